{{/* What the values say as variables of the environment, as a YAML list. */}}
{{- define "rekindle.env" -}}
{{- $values := .Values -}}
{{- $namespaces := fromJsonArray (include "rekindle.namespaces" .) -}}
{{- with $namespaces }}
- name: REKINDLE_NAMESPACES
  value: {{ join "," . | quote }}
{{- end }}
{{- with $values.spark.jobNamespaceSelector }}
- name: REKINDLE_NAMESPACE_SELECTOR
  value: {{ . | quote }}
{{- end }}
{{- $budget := $values.controller.driverPodDisruptionBudget -}}
{{- if kindIs "map" $budget }}{{ $budget = $budget.enable }}{{ end -}}
{{- $ingress := $values.controller.uiIngress -}}
{{- $named := dict
  "REKINDLE_FAMILIES" (join "," $values.controller.families)
  "REKINDLE_ADMISSION_QUOTA" (and (eq .Values.mode "functions") $values.webhook.enable (not $values.webhook.resourceQuotaEnforcement.enable) | ternary "false" "")
  "REKINDLE_ADMISSION_QUEUE_GATE" (and $values.webhook.enable $values.webhook.queueGate | ternary "true" "")
  "REKINDLE_ADMISSION_RESOURCE_GROUPS" (and $values.webhook.enable (not (empty $values.webhook.resourceGroups)) | ternary (toJson $values.webhook.resourceGroups) "")
  "REKINDLE_CONCURRENCY" $values.controller.workers
  "REKINDLE_MAX_TRACKED_EXECUTOR_PER_APP" $values.controller.maxTrackedExecutorPerApp
  "REKINDLE_LOG_LEVEL" (eq $values.controller.logLevel "info" | ternary "" $values.controller.logLevel)
  "REKINDLE_ENABLE_UI_SERVICE" ($values.controller.uiService.enable | ternary "" "false")
  "REKINDLE_INGRESS_URL_FORMAT" ($ingress.enable | ternary $ingress.urlFormat "")
  "REKINDLE_INGRESS_CLASS_NAME" ($ingress.enable | ternary $ingress.ingressClassName "")
  "REKINDLE_INGRESS_TLS" (and $ingress.enable (not (empty $ingress.tls)) | ternary (toJson $ingress.tls) "")
  "REKINDLE_INGRESS_ANNOTATIONS" (and $ingress.enable (not (empty $ingress.annotations)) | ternary (toJson $ingress.annotations) "")
  "REKINDLE_ENABLE_DRIVER_PDB" (not (empty $budget) | ternary "true" "")
  "REKINDLE_DEFAULT_TIME_TO_LIVE_SECONDS" $values.controller.defaultTimeToLiveSeconds
  "REKINDLE_SPARK_DEFAULTS" (empty $values.controller.sparkDefaults | ternary "" (toJson $values.controller.sparkDefaults))
  "REKINDLE_ENABLE_BATCH_SCHEDULER" ($values.controller.batchScheduler.enable | ternary "true" "")
  "REKINDLE_KUBE_SCHEDULER_NAMES" (join "," $values.controller.batchScheduler.kubeSchedulerNames)
  "REKINDLE_DEFAULT_BATCH_SCHEDULER" $values.controller.batchScheduler.default
  "REKINDLE_METRICS_PREFIX" $values.prometheus.metrics.prefix
  "REKINDLE_METRICS_LABELS" $values.prometheus.metrics.labels
  "REKINDLE_METRICS_JOB_START_LATENCY_BUCKETS" $values.prometheus.metrics.jobStartLatencyBuckets
  "REKINDLE_METRICS_JOB_SUBMIT_LATENCY_BUCKETS" $values.prometheus.metrics.jobSubmitLatencyBuckets
}}
{{- $read := index (.Files.Get "files/variables.yaml" | fromYaml) .Values.mode -}}
{{- $written := dict -}}
{{- range $name, $value := $named }}{{ if $value }}{{ $_ := set $written $name ($value | toString) }}{{ end }}{{ end -}}
{{- range $key, $value := $values.settings }}
{{- if not (kindIs "invalid" $value) }}
{{- $name := printf "REKINDLE_%s" (upper (snakecase $key)) -}}
{{- if hasKey $written $name }}{{ fail (printf "settings.%s says what another value says already (%s): leave one of them out" $key $name) }}{{ end -}}
{{- if kindIs "float64" $value }}{{ $_ := set $written $name (int64 $value | toString) }}
{{- else if and (kindIs "slice" $value) (or (empty $value) (kindIs "string" (first $value))) }}{{ $_ := set $written $name (join "," $value) }}
{{- else if or (kindIs "slice" $value) (kindIs "map" $value) }}{{ $_ := set $written $name (toJson $value) }}
{{- else }}{{ $_ := set $written $name ($value | toString) }}{{ end -}}
{{- end }}
{{- end }}
{{- range $name, $value := $written }}
{{- if not (has $name $read) }}{{ fail (printf "%s is not read with mode: %s; leave out the value that sets it" $name $values.mode) }}{{ end }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}
