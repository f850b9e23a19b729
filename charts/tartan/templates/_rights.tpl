{{/* root, name, component, rights. A ServiceAccount, and what it may do: everywhere, and in namespaces of which only a release knows. */}}
{{- define "tartan.account" -}}
{{- $root := .root }}
{{- $part := pick . "root" "name" "component" }}
{{- $name := .name }}
{{- $subjects := list (dict "kind" "ServiceAccount" "namespace" $root.Release.Namespace "name" $name) }}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "tartan.metadata" $part | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  {{- include "tartan.metadata.clusterWide" $part | nindent 2 }}
rules:
  {{- toYaml .rights.clusterWide | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  {{- include "tartan.metadata.clusterWide" $part | nindent 2 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ $name | quote }} }
subjects:
  {{- toYaml $subjects | nindent 2 }}
{{- /* Two of the namespaces below may turn out to be the same, and a Role has but one list of rules. */}}
{{- $byNamespace := dict }}
{{- range $namespace, $rules := .rights.inNamespace }}
{{- $spread := eq $namespace "FLEET_SPREAD_NAMESPACE" }}
{{- if or (not $spread) $root.Values.fleetSpread.deployment }}
{{- if $spread }}
{{- $namespace = $root.Values.fleetSpread.namespace | default $root.Release.Namespace }}
{{- $rules = toJson $rules | replace "FLEET_SPREAD_DEPLOYMENT" $root.Values.fleetSpread.deployment | fromJsonArray }}
{{- else if eq $namespace "RELEASE_NAMESPACE" }}
{{- $namespace = $root.Release.Namespace }}
{{- end }}
{{- $_ := set $byNamespace $namespace (concat (get $byNamespace $namespace | default list) $rules) }}
{{- end }}
{{- end }}
{{- range $namespace, $rules := $byNamespace }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  namespace: {{ $namespace | quote }}
  {{- include "tartan.metadata.clusterWide" $part | nindent 2 }}
rules:
  {{- toYaml $rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  namespace: {{ $namespace | quote }}
  {{- include "tartan.metadata.clusterWide" $part | nindent 2 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ $name | quote }} }
subjects:
  {{- toYaml $subjects | nindent 2 }}
{{- end }}
{{- end }}
