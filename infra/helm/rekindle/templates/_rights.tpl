{{/* The rules of files/rights.yaml that the chosen families need, as a JSON list. Takes root, rows, and where: all, roles (without those of the whole cluster), whole (those alone). */}}
{{- define "rekindle.rules" -}}
{{- $families := fromJsonArray (include "rekindle.families" .root) -}}
{{- $where := .where -}}
{{- $rules := list -}}
{{- range $row := .rows -}}
{{- $isPlaced := or (eq $where "all") (eq (eq $where "whole") ($row.whole | default false)) -}}
{{- $isChosen := not $row.of -}}
{{- range $row.of }}{{ if has . $families }}{{ $isChosen = true }}{{ end }}{{ end -}}
{{- if and $isPlaced $isChosen }}{{ $rules = append $rules $row.rule }}{{ end -}}
{{- end -}}
{{ toJson $rules }}
{{- end -}}

{{/* A role and its binding, unless there are no rules. Takes root, name, namespace (none: the cluster), rows and where (see rekindle.rules), subjects, labels, annotations. */}}
{{- define "rekindle.grant" -}}
{{- $rules := fromJsonArray (include "rekindle.rules" (dict "root" .root "rows" (.rows | default list) "where" (.where | default "all"))) }}
{{- if $rules }}
{{- $kind := .namespace | empty | ternary "ClusterRole" "Role" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  {{- include "rekindle.metadata" . | nindent 2 }}
rules:
  {{- toYaml $rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  {{- include "rekindle.metadata" . | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name }}
subjects:
  {{- toYaml .subjects | nindent 2 }}
{{ end }}
{{- end -}}

{{/* Fails where a feature asks for groups of named namespaces. */}}
{{- define "rekindle.checkFeatures" -}}
{{- if fromJsonArray (include "rekindle.places" .) }}
{{- range $feature := .Values.controller.rbac.features }}
{{- if has $feature (list "gang" "gang-evict" "gang-native") }}
{{- fail (printf "controller.rbac.features: %s: groups are admitted in all namespaces together, on the nodes of the whole cluster: choose the namespaces by spark.jobNamespaceSelector, or leave spark.jobNamespaces out" $feature) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
