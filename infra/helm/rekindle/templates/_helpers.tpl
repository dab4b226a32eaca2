{{/* Not empty: the values name the image of kubeflow's operator, as the values of its chart do. It cannot run here. */}}
{{- define "rekindle.otherImage" -}}
{{- if regexMatch "(^|/)spark-operator(/|$)" .Values.image.repository -}}
{{- with .Values.image.registry -}}{{ . }}/{{- end -}}{{ .Values.image.repository }}
{{- end -}}
{{- end -}}

{{/* The image by its parts. */}}
{{- define "rekindle.image" -}}
{{- if include "rekindle.otherImage" . -}}rekindle:{{ .Chart.AppVersion }}
{{- else -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- if .Values.image.registry -}}{{ .Values.image.registry }}/{{- end -}}{{ .Values.image.repository }}:{{ $tag }}
{{- end -}}
{{- end -}}

{{/* Whose rights the host has. */}}
{{- define "rekindle.account" -}}
{{- .Values.controller.serviceAccount.name | default "rekindle" -}}
{{- end -}}

{{/* The families that run, as a JSON list: those of `rekindle manifests` without --family, if none are chosen. */}}
{{- define "rekindle.families" -}}
{{- toJson (.Values.controller.families | default (list "spark" "volcano")) -}}
{{- end -}}

{{/* Namespaces by their names as a JSON list; empty: everywhere. */}}
{{- define "rekindle.namespaces" -}}
{{- if or (has "" .Values.spark.jobNamespaces) (not .Values.spark.jobNamespaces) -}}[]{{- else -}}{{ toJson .Values.spark.jobNamespaces }}{{- end -}}
{{- end -}}

{{/* Namespaces whose Roles grant the rights, as a JSON list; empty: ClusterRoles do. */}}
{{- define "rekindle.places" -}}
{{- if .Values.spark.jobNamespaceSelector -}}[]{{- else -}}{{ include "rekindle.namespaces" . }}{{- end -}}
{{- end -}}

{{/* Metadata. Takes root, name, namespace (none: the cluster), labels, annotations. */}}
{{- define "rekindle.metadata" -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . | quote }}
{{- end }}
labels:
  {{- toYaml (merge (dict "app.kubernetes.io/name" "rekindle" "app.kubernetes.io/managed-by" "rekindle") (.labels | default dict) .root.Values.commonLabels) | nindent 2 }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A service account. Takes root, name, namespace, labels, and of: its values. */}}
{{- define "rekindle.serviceAccount" -}}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "rekindle.metadata" (dict "root" .root "name" .name "namespace" .namespace "labels" .labels "annotations" .of.annotations) | nindent 2 }}
{{- if not .of.automountServiceAccountToken }}
automountServiceAccountToken: false
{{- end }}
{{ end -}}

{{/* A Service. Takes root, name, pods, port (of name, port, targetPort). */}}
{{- define "rekindle.service" -}}
---
apiVersion: v1
kind: Service
metadata:
  {{- include "rekindle.metadata" (dict "root" .root "name" .name "namespace" .root.Release.Namespace) | nindent 2 }}
spec:
  selector:
    app.kubernetes.io/name: {{ .pods }}
  ports:
    - name: {{ .port.name }}
      port: {{ .port.port }}
      targetPort: {{ .port.targetPort }}
      protocol: TCP
{{ end -}}

{{/* A NetworkPolicy: DNS and HTTPS outwards, and further ports. Takes root, name, outwards. */}}
{{- define "rekindle.networkPolicy" -}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "rekindle.metadata" (dict "root" .root "name" .name "namespace" .root.Release.Namespace) | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
  policyTypes:
    - Ingress
    - Egress
  ingress:
    - ports:
        - protocol: TCP
          port: 8080
        {{- if .root.Values.webhook.enable }}
        {{- with .root.Values.networkPolicy.admissionFrom }}
    - from:
        {{- range . }}
        - ipBlock:
            cidr: {{ . | quote }}
        {{- end }}
      ports:
        {{- end }}
        - protocol: TCP
          port: 9443
        {{- end }}
  egress:
    - ports:
        - protocol: UDP
          port: 53
        {{- range $port := concat (list 53 443 6443) (.outwards | default list) }}
        - protocol: TCP
          port: {{ $port }}
        {{- end }}
{{ end -}}
