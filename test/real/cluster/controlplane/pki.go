package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// authority signs whatever a cluster needs and writes it into its folder, as NAME.crt and NAME.key.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

// identity is who a certificate speaks for; addresses make it a serving certificate.
type identity struct {
	file         string
	name         string
	organisation []string
	names        []string
	addresses    []net.IP
}

func newAuthority(dir string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := blank("rekindle-test-ca")
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &authority{dir, cert, key}, write(filepath.Join(dir, "ca.crt"), "CERTIFICATE", der)
}

func blank(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().AddDate(1, 0, 0),
	}
}

func (a *authority) issue(who identity) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := blank(who.name)
	template.Subject.Organization = who.organisation
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(who.addresses) > 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		template.DNSNames = who.names
		template.IPAddresses = who.addresses
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return err
	}
	if err := write(a.path(who.file+".crt"), "CERTIFICATE", der); err != nil {
		return err
	}
	return writeKey(a.path(who.file+".key"), key)
}

// tokenKey makes the pair that signs service-account tokens: RSA, as most clusters have it.
func (a *authority) tokenKey() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := write(a.path("service-accounts.pub"), "PUBLIC KEY", public); err != nil {
		return err
	}
	return writeKey(a.path("service-accounts.key"), key)
}

// kubeconfig writes FILE with the identity's certificate inside, so that it can be copied alone.
func (a *authority) kubeconfig(file, server, who string) error {
	config := api.NewConfig()
	read := func(name string) []byte {
		content, err := os.ReadFile(a.path(name))
		if err != nil {
			panic(fmt.Sprintf("the authority reads back what it wrote: %v", err))
		}
		return content
	}
	config.Clusters["rekindle-test"] = &api.Cluster{Server: server, CertificateAuthorityData: read("ca.crt")}
	config.AuthInfos[who] = &api.AuthInfo{ClientCertificateData: read(who + ".crt"), ClientKeyData: read(who + ".key")}
	config.Contexts["rekindle-test"] = &api.Context{Cluster: "rekindle-test", AuthInfo: who, Namespace: "default"}
	config.CurrentContext = "rekindle-test"
	return clientcmd.WriteToFile(*config, file)
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

func writeKey(file string, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return write(file, "PRIVATE KEY", der)
}

func write(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
