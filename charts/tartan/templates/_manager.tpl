{{- define "tartan.image" -}}
{{ printf "%s:%s" .Values.provider.image.repository (.Values.provider.image.tag | default .Chart.AppVersion) }}
{{- end }}

{{/* Zones of all fleets that there are, as a list with commas. */}}
{{- define "tartan.zones" -}}
{{- $zones := list -}}
{{- range $word := include "tartan.fleets" . | fromJsonArray -}}
{{- $zones = append $zones (index $.Values (printf "%sFleet" $word)).machine.zone -}}
{{- end -}}
{{- $zones | uniq | sortAlpha | join "," -}}
{{- end }}

{{/* What the manager is told, as a list in YAML. No secret is among it: arguments are shown to whoever may read a Pod. */}}
{{- define "tartan.manager.args" -}}
- --secrets-namespace={{ .Release.Namespace }}
- --log-level={{ .Values.provider.logLevel }}
{{- with .Values.apiServerURL }}
- --api-server-url={{ . }}
{{- end }}
- --default-adopt-pool-prefix={{ .Values.macosFleet.adoptPoolPrefix }}
{{- with include "tartan.zones" . }}
- --orphan-reclaim-zones={{ . }}
{{- end }}
{{- if .Values.macosFleet.orphanReclaim.activeReclaim }}
- --orphan-reclaim-claim-name-prefix={{ include "tartan.claimPrefix" . }}
{{- end }}
{{- if .Values.buildersFleet.enabled }}
- --actions-runner-tarball-path=/opt/actions-runner/actions-runner.tar.gz
- --packer-binary-path=/opt/packer/packer
- --crane-binary-path=/opt/crane/crane
- --oras-binary-path=/opt/oras/oras
{{- end }}
{{- with .Values.tailscale }}
{{- if .enabled }}
- --tailscale-binaries-path=/opt/tailscale/tailscale.tar.gz
- --tailscale-auth-key-secret-name={{ .secretName }}
- --tailscale-tags={{ join "," .tags }}
- --tailscale-accept-routes={{ .acceptRoutes }}
{{- if .nodeExporter }}
- --node-exporter-binary-path=/opt/node_exporter/node_exporter
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.vmClusterEgress }}
{{- if .kuraServiceCIDR }}
- --vm-kura-egress-cidr={{ .kuraServiceCIDR }}
- --vm-cluster-dns-ip={{ .clusterDNSIP }}
{{- end }}
{{- end }}
{{- with .Values.fleetSpread }}
{{- if .deployment }}
- --fleet-spread-deployment={{ .deployment }}
- --fleet-spread-namespace={{ .namespace | default $.Release.Namespace }}
{{- end }}
{{- end }}
{{- end }}

{{- define "tartan.manager.env" -}}
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_IP
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
{{- range list "SCW_ACCESS_KEY" "SCW_SECRET_KEY" "SCW_DEFAULT_PROJECT_ID" }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.Values.scaleway.secretName | quote }}, key: {{ . }} } }
{{- end }}
{{- with .Values.provider.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/*
All that makes the manager, in one word. The manager and every MacFleet are told: a fleet for which another manager speaks is not
Ready, so `helm --wait` waits for the new one, also when nothing but its image is new.
*/}}
{{- define "tartan.releaseID" -}}
{{- list (include "tartan.image" .) (include "tartan.manager.args" .) (include "tartan.manager.env" .) .Values.provider.extraArgs | toJson | sha256sum | trunc 12 -}}
{{- end }}

{{/* Whose Pods are in this namespace need no more: nobody writes to the image, and nobody is root. */}}
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

{{/* Where Pods of the release may run, and how their image is pulled. */}}
{{- define "tartan.pod.placement" -}}
{{- with .Values.provider.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with .Values.provider.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.provider.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.provider.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
