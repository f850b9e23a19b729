{{- define "tartan.image" -}}
{{ printf "%s:%s" .Values.provider.image.repository (.Values.provider.image.tag | default .Chart.AppVersion) }}
{{- end }}

{{/* Security context of all Pods: not root, read-only image. */}}
{{- define "tartan.pod.security" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "tartan.container.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* root, values of a program. Scheduling and image pull secrets. All programs share one image. */}}
{{- define "tartan.pod.placement" -}}
{{- with .root.Values.provider.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Name, namespace and address of the Pod. */}}
{{- define "tartan.program.env" -}}
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_IP
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
{{- end }}

{{/* root, name, component, container, file, values, args, env and secrets (as lists in YAML). The Deployment of a program with leader election. */}}
{{- define "tartan.program" -}}
{{- $root := .root }}
{{- $values := .values }}
{{- $part := dict "root" $root "name" .name "component" .component }}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "tartan.metadata" $part | nindent 2 }}
spec:
  replicas: {{ int64 $values.replicas }}
  selector:
    matchLabels:
      {{- include "tartan.selector" $part | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  template:
    metadata:
      labels:
        {{- include "tartan.selector" $part | nindent 8 }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        kubectl.kubernetes.io/default-container: {{ .container }}
        {{- if $values.scrapeAnnotations }}
        prometheus.io/scrape: "true"
        prometheus.io/port: "8080"
        prometheus.io/path: /metrics
        {{- end }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ .name | quote }}
      securityContext:
        {{- include "tartan.pod.security" . | nindent 8 }}
      # Time to release the Lease, so that the other replica need not wait until it expires.
      terminationGracePeriodSeconds: 30
      {{- with include "tartan.pod.placement" . | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      affinity:
        {{- if $values.affinity }}
        {{- toYaml $values.affinity | nindent 8 }}
        {{- else }}
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              podAffinityTerm:
                topologyKey: kubernetes.io/hostname
                labelSelector:
                  matchLabels:
                    {{- include "tartan.selector" $part | nindent 20 }}
        {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "tartan.selector" $part | nindent 14 }}
      containers:
        - name: {{ .container }}
          image: {{ include "tartan.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.provider.image.pullPolicy }}
          command: [/usr/local/bin/node, --max-semi-space-size=2, --heap-growing-percent=30, /opt/tartan/{{ .file }}]
          args:
            {{- .args | fromYamlArray | toYaml | nindent 12 }}
            {{- with $values.extraArgs }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          env:
            {{- .env | nindent 12 }}
          ports:
            - { name: metrics, containerPort: 8080 }
            - { name: health, containerPort: 8081 }
          livenessProbe:
            httpGet: { path: /healthz, port: health }
            initialDelaySeconds: 10
            periodSeconds: 20
            timeoutSeconds: 5
          readinessProbe:
            httpGet: { path: /readyz, port: health }
            periodSeconds: 5
            timeoutSeconds: 5
          resources:
            {{- range $kind, $quantities := $values.resources }}
            {{ $kind }}:
              {{- range $resource, $quantity := $quantities }}
              {{- if ne (toString $quantity) "" }}
              {{ $resource }}: {{ $quantity | quote }}
              {{- end }}
              {{- end }}
            {{- end }}
          securityContext:
            {{- include "tartan.container.security" . | nindent 12 }}
          {{- with .secrets }}
          volumeMounts:
            {{- range . | fromYamlArray }}
            - { name: {{ .name }}, mountPath: {{ .path }}, readOnly: true }
            {{- end }}
      volumes:
        {{- range . | fromYamlArray }}
        - name: {{ .name }}
          secret: { secretName: {{ .secretName | quote }} }
        {{- end }}
          {{- end }}
{{- /* maxUnavailable: 1 of one replica limits nothing. */}}
{{- if gt (int64 $values.replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "tartan.metadata" $part | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "tartan.selector" $part | nindent 6 }}
{{- end }}
{{- end }}

{{/* root, name, component. A Service and a ServiceMonitor for the Prometheus operator. */}}
{{- define "tartan.program.metrics" -}}
{{- $monitor := .root.Values.serviceMonitor }}
{{- if $monitor.enabled }}
apiVersion: v1
kind: Service
metadata:
  {{- include "tartan.metadata" . | nindent 2 }}
spec:
  clusterIP: None
  selector:
    {{- include "tartan.selector" . | nindent 4 }}
  ports:
    - { name: metrics, port: 8080, targetPort: metrics }
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  {{- include "tartan.metadata" (merge (dict "labels" $monitor.labels) .) | nindent 2 }}
spec:
  selector:
    matchLabels:
      {{- include "tartan.selector" . | nindent 6 }}
  endpoints:
    - port: metrics
      # Labels such as namespace are those of the machine or pool, not of the Pod that exports them.
      honorLabels: true
      interval: {{ $monitor.interval }}
{{- end }}
{{- end }}
