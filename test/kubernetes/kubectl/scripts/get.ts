import type { KubectlScript } from '../script.ts';

const threeConfigMaps = `
apiVersion: v1
kind: ConfigMap
metadata: {name: red, labels: {colour: red, size: small}, annotations: {note: first}}
data: {key: value, other: value}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: green, labels: {colour: green, size: small}}
data: {key: value}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: blue, labels: {colour: blue}}
binaryData: {bytes: AAEC}
immutable: true
`;

export const reading: KubectlScript = {
  title: 'reading objects in every output format',
  namespace: 'reading',
  steps: [
    { run: 'create -f -', input: threeConfigMaps },
    'create secret generic vault --from-literal=password=s3cret --from-literal=user=admin',
    'get configmaps',
    'get cm',
    'get cm --no-headers',
    'get cm -o wide',
    'get cm --show-labels',
    'get cm -L colour -L size',
    'get cm --show-kind',
    'get cm red',
    'get cm/red cm/green',
    'get cm red green -o name',
    'get cm red -o yaml',
    'get cm red -o json',
    'get cm blue -o yaml',
    'get cm red green -o json',
    'get cm -l colour -o yaml',
    "get cm red -o jsonpath='{.data.key} {.metadata.labels.colour}'",
    "get cm -o jsonpath='{.items[*].metadata.name}'",
    `get cm -o jsonpath='{range .items[?(@.metadata.labels.size=="small")]}{.metadata.name}{"\\n"}{end}'`,
    "get cm -o go-template='{{range .items}}{{.metadata.name}} {{end}}'",
    'get cm -o custom-columns=NAME:.metadata.name,COLOUR:.metadata.labels.colour',
    'get cm --sort-by=.metadata.labels.colour',
    'get cm --sort-by=.metadata.name -o name',
    'get cm --chunk-size=1',
    'get cm -l colour=red',
    "get cm -l 'colour in (red, green)'",
    "get cm -l 'colour notin (red)'",
    'get cm -l colour!=red',
    'get cm -l size',
    "get cm -l '!size'",
    'get cm -l colour=nothing',
    'get cm -l colour=nothing -o yaml',
    'get cm --field-selector metadata.name=green',
    'get cm --field-selector metadata.name!=green',
    'get secrets --field-selector type=Opaque',
    'get cm,secrets',
    'get cm,secrets -l colour',
    'get cm -A -l colour',
    'get cm --all-namespaces -l size=small -o name',
    'get secret vault',
    'get secret vault -o yaml',
    "get secret vault -o jsonpath='{.data.password}'",
    'get sa',
    'get serviceaccount default -o yaml',
    'get namespaces',
    'get ns reading -o yaml',
    'get ns reading -o wide',
    'get ns --show-labels',
    { run: 'get -f -', input: threeConfigMaps },
    { run: 'get -o name -f -', input: threeConfigMaps },
    'get --raw /healthz',
    'get --raw /readyz',
    'get --raw /livez',
    'get leases',
    'get pods',
    'get pods -o yaml',
    'get events',
    'get all',
    'get cm nothing --ignore-not-found',
    'describe cm red',
    'describe cm',
    'describe secret vault',
    'describe sa default',
    // The embedded server does not serve quotas and limit ranges, and kubectl then omits their paragraphs.
    { run: 'describe ns reading', lines: /^(Name|Labels|Annotations|Status):/ },
  ],
};
