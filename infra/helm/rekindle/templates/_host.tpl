{{/* What the values say that the host is told by its environment, as a YAML list. */}}
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

{{/* The same with the variables that the values add as they are. */}}
{{- define "rekindle.environment" -}}
{{ include "rekindle.env" . }}
{{- with .Values.controller.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* A container with what the values add to each container. Takes root, container and environment. */}}
{{- define "rekindle.container" -}}
{{- $values := .root.Values.controller -}}
{{- $container := .container -}}
{{- if ne .root.Values.image.pullPolicy "IfNotPresent" }}{{ $_ := set $container "imagePullPolicy" .root.Values.image.pullPolicy }}{{ end -}}
{{- $_ := set $container "env" (concat (get $container "env") .environment) -}}
{{- with $values.envFrom }}{{ $_ := set $container "envFrom" (concat (get $container "envFrom") .) }}{{ end -}}
{{- with $values.resources }}{{ $_ := set $container "resources" . }}{{ end -}}
{{- with $values.volumeMounts }}{{ $_ := set $container "volumeMounts" (concat (get $container "volumeMounts" | default list) .) }}{{ end -}}
{{- with $values.securityContext }}{{ $_ := set $container "securityContext" (mergeOverwrite (get $container "securityContext") .) }}{{ end -}}
{{- end -}}

{{/* A Deployment with what the values add. Takes root, object, account and environment. */}}
{{- define "rekindle.host" -}}
{{- $values := .root.Values.controller -}}
{{- $spec := get .object "spec" -}}
{{- $_ := set $spec "replicas" (int $values.replicas) -}}
{{- if not (kindIs "invalid" $values.revisionHistoryLimit) }}{{ $_ := set $spec "revisionHistoryLimit" (int $values.revisionHistoryLimit) }}{{ end -}}
{{- $template := get $spec "template" -}}
{{- $metadata := get $template "metadata" -}}
{{- $_ := set $metadata "labels" (merge (get $metadata "labels") $values.labels .root.Values.commonLabels) -}}
{{- with $values.annotations }}{{ $_ := set $metadata "annotations" . }}{{ end -}}
{{- $pod := get $template "spec" -}}
{{- $_ := set $pod "serviceAccountName" .account -}}
{{- with .root.Values.image.pullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end -}}
{{- range $name := list "nodeSelector" "affinity" "tolerations" "priorityClassName" "topologySpreadConstraints" "dnsConfig" -}}
{{- with get $values $name }}{{ $_ := set $pod $name . }}{{ end -}}
{{- end -}}
{{- with $values.volumes }}{{ $_ := set $pod "volumes" (concat (get $pod "volumes" | default list) .) }}{{ end -}}
{{- if kindIs "bool" $values.hostUsers }}{{ $_ := set $pod "hostUsers" $values.hostUsers }}{{ end -}}
{{- if not $values.serviceAccount.automountServiceAccountToken }}{{ $_ := set $pod "automountServiceAccountToken" false }}{{ end -}}
{{- with $values.podSecurityContext }}{{ $_ := set $pod "securityContext" (mergeOverwrite (get $pod "securityContext") .) }}{{ end -}}
{{- $container := index (get $pod "containers") 0 -}}
{{- include "rekindle.container" (dict "root" .root "container" $container "environment" .environment) -}}
{{- if and (hasKey $container "args") .root.Values.webhook.enable (not .root.Values.webhook.resourceQuotaEnforcement.enable) }}{{ $_ := set $container "args" (without (get $container "args") "--admission-quota") }}{{ end -}}
{{- with $values.sidecars }}{{ $_ := set $pod "containers" (concat (get $pod "containers") .) }}{{ end -}}
{{- toYaml .object -}}
{{- end -}}
