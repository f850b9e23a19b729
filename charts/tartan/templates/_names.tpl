{{/* Prefix of all names of the release. */}}
{{- define "tartan.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name -}}
{{- end -}}
{{- end }}

{{/* Machines are named after their fleets, and claimed servers after their machines. */}}
{{- define "tartan.claimPrefix" -}}
{{ include "tartan.fullname" . }}-
{{- end }}

{{- define "tartan.provider.name" -}}
{{ include "tartan.fullname" . }}-provider
{{- end }}

{{- define "tartan.runners.name" -}}
{{ include "tartan.fullname" . }}-runners-controller
{{- end }}

{{- define "tartan.crds.name" -}}
{{ include "tartan.fullname" . }}-crds
{{- end }}

{{- define "tartan.uninstall.name" -}}
{{ include "tartan.fullname" . }}-uninstall
{{- end }}

{{/* Name of the Cluster, ScalewayAppleSiliconCluster and ExternalControlPlane. */}}
{{- define "tartan.cluster.name" -}}
{{ .Release.Name }}-capi
{{- end }}

{{/* The ServiceAccount as which core connects. The provider has rights on this name alone. */}}
{{- define "tartan.remote.account" -}}
capi-remote
{{- end }}

{{- define "tartan.remote.role" -}}
{{ include "tartan.fullname" . }}-capi-remote
{{- end }}

{{/* Labels of one component, for selectors. They never change. */}}
{{- define "tartan.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tartan.labels" -}}
{{ include "tartan.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* metadata of an object in the namespace of the release: root, name, component, and more annotations. */}}
{{- define "tartan.metadata" -}}
name: {{ .name | quote }}
namespace: {{ .root.Release.Namespace | quote }}
{{ include "tartan.metadata.rest" . }}
{{- end }}

{{/* metadata of a cluster-scoped object. */}}
{{- define "tartan.metadata.clusterWide" -}}
name: {{ .name | quote }}
{{ include "tartan.metadata.rest" . }}
{{- end }}

{{- define "tartan.metadata.rest" -}}
labels:
  {{- include "tartan.labels" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
