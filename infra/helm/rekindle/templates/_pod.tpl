{{/* A Deployment but for its container. Takes root, name, account, strategy, container, volumes. */}}
{{- define "rekindle.deployment" -}}
{{- $values := .root.Values.controller -}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "rekindle.metadata" (dict "root" .root "name" .name "namespace" .root.Release.Namespace) | nindent 2 }}
spec:
  replicas: {{ int $values.replicas }}
  {{- if not (kindIs "invalid" $values.revisionHistoryLimit) }}
  revisionHistoryLimit: {{ int $values.revisionHistoryLimit }}
  {{- end }}
  strategy:
    type: {{ .strategy }}
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
  template:
    metadata:
      labels:
        {{- toYaml (merge (dict "app.kubernetes.io/name" .name "app.kubernetes.io/managed-by" "rekindle") $values.labels .root.Values.commonLabels) | nindent 8 }}
      {{- with $values.annotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ .account }}
      {{- if not $values.serviceAccount.automountServiceAccountToken }}
      automountServiceAccountToken: false
      {{- end }}
      enableServiceLinks: false
      terminationGracePeriodSeconds: 60
      securityContext:
        {{- $security := dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "seccompProfile" (dict "type" "RuntimeDefault") }}
        {{- toYaml (mergeOverwrite $security $values.podSecurityContext) | nindent 8 }}
      {{- with .root.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- range $name := list "nodeSelector" "affinity" "tolerations" "topologySpreadConstraints" "dnsConfig" }}
      {{- with get $values $name }}
      {{ $name }}:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- end }}
      {{- with $values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- if kindIs "bool" $values.hostUsers }}
      hostUsers: {{ $values.hostUsers }}
      {{- end }}
      containers:
        - {{- .container | nindent 10 }}
        {{- with $values.sidecars }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with concat (.volumes | default list) $values.volumes }}
      volumes:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{ end -}}

{{/*
What all containers have. Takes root, name, environment (added to the usual variables), settings (the ConfigMap and the
Secret, and whether the first is optional), mounts, memory and mostMemory, security (beside the usual).
*/}}
{{- define "rekindle.container" -}}
{{- $values := .root.Values.controller -}}
name: {{ .name }}
image: {{ include "rekindle.image" .root | quote }}
{{- if ne .root.Values.image.pullPolicy "IfNotPresent" }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- end }}
env:
  {{- toYaml (concat .environment ($values.env | default list)) | nindent 2 }}
envFrom:
  - configMapRef:
      name: {{ .settings.name }}
      {{- if .settings.optional }}
      optional: true
      {{- end }}
  - secretRef:
      name: {{ .settings.name }}
      optional: true
  {{- with $values.envFrom }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with concat (.mounts | default list) ($values.volumeMounts | default list) }}
volumeMounts:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml ($values.resources | default (dict "requests" (dict "cpu" "50m" "memory" .memory) "limits" (dict "memory" .mostMemory))) | nindent 2 }}
securityContext:
  {{- $security := merge (dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL"))) (.security | default dict) }}
  {{- toYaml (mergeOverwrite $security $values.securityContext) | nindent 2 }}
{{- end -}}

{{/* Probes of a Deployment. Takes ready: the path that answers while the process is ready. */}}
{{- define "rekindle.probes" -}}
startupProbe:
  httpGet:
    path: /healthz
    port: http
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 30
livenessProbe:
  httpGet:
    path: /healthz
    port: http
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: {{ .ready }}
    port: http
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 3
ports:
  - name: http
    containerPort: 8080
    protocol: TCP
  {{- if .root.Values.webhook.enable }}
  - name: admission
    containerPort: 9443
    protocol: TCP
  {{- end }}
{{- end -}}
