import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** DynamoDB Local on 127.0.0.1 alone: by itself it listens to every network. */
class Local {
  public static void main(String[] args) throws Exception {
    DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(args);
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    for (Connector connector : ((Server) field.get(local)).getConnectors())
      ((ServerConnector) connector).setHost("127.0.0.1");
    local.start();
    local.join();
  }
}
