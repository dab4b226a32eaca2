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

{{/* Namespaces by their names as a JSON list; empty: everywhere. */}}
{{- define "rekindle.namespaces" -}}
{{- if or (has "" .Values.spark.jobNamespaces) (not .Values.spark.jobNamespaces) -}}[]{{- else -}}{{ toJson .Values.spark.jobNamespaces }}{{- end -}}
{{- end -}}

{{/* The objects of a file as a YAML list, its marks filled in. Takes root, file, jobs, annotations. */}}
{{- define "rekindle.read" -}}
{{- $text := .root.Files.Get (printf "files/%s.yaml" .file) -}}
{{- $text = $text | replace "@release@" .root.Release.Namespace | replace "@jobs@" (.jobs | default "") -}}
{{- $text = $text | replace "@image@" (include "rekindle.image" .root) | replace "@driver@" .root.Values.spark.serviceAccount.name -}}
{{- range $object := fromYamlArray $text }}
{{- $metadata := get $object "metadata" -}}
{{- with $.root.Values.commonLabels }}{{ $_ := set $metadata "labels" (merge (get $metadata "labels") .) }}{{ end -}}
{{- with $.annotations }}{{ $_ := set $metadata "annotations" . }}{{ end -}}
{{- range $subject := $object.subjects }}
{{- if and (eq (get $subject "namespace") $.root.Release.Namespace) (eq (get $subject "name") "rekindle") }}{{ $_ := set $subject "name" (include "rekindle.account" $.root) }}{{ end -}}
{{- end }}
{{ list $object | toYaml }}
{{- end -}}
{{- end -}}

{{/* The same as documents. */}}
{{- define "rekindle.objects" -}}
{{- range $object := fromYamlArray (include "rekindle.read" .) }}
---
{{ toYaml $object }}
{{- end -}}
{{- end -}}
