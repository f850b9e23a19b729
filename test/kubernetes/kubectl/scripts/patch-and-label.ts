import type { KubectlScript } from '../script.ts';

const pod = `
apiVersion: v1
kind: Pod
metadata: {name: patient, labels: {app: demo}}
spec:
  schedulerName: nobody
  containers:
  - {name: one, image: example/one:1, env: [{name: A, value: "1"}, {name: B, value: "2"}]}
  - {name: two, image: example/two}
`;

export const changing: KubectlScript = {
  title: 'patch, label, annotate',
  namespace: 'changing',
  steps: [
    'create configmap settings --from-literal=a=1 --from-literal=b=2',
    { run: 'create -f -', input: pod },

    `patch cm settings -p '{"data": {"a": "10"}}'`,
    `patch cm settings -p '{"data": {"a": "10"}}'`,
    `patch cm settings --type=merge -p '{"data": {"b": null, "c": "3"}}'`,
    "get cm settings -o jsonpath='{.data}'",
    `patch cm settings --type=json -p '[{"op": "test", "path": "/data/a", "value": "10"}, {"op": "replace", "path": "/data/a", "value": "11"}]'`,
    `patch cm settings --type=json -p '[{"op": "test", "path": "/data/a", "value": "12"}]'`,
    `patch cm settings --type=json -p '[{"op": "remove", "path": "/data/nothing"}]'`,
    `patch cm settings --type=json -p '[{"op": "add", "path": "/metadata/labels", "value": {"x": "y"}}]' -o yaml`,
    `patch cm settings --type=merge -p '{"metadata": {"resourceVersion": "1"}, "data": {"a": "13"}}'`,
    `patch cm settings --type=merge -p '{"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}}'`,
    `patch cm settings --type=merge -p '{"unknown": 1}'`,
    `patch cm settings --type=merge --dry-run=server -p '{"data": {"a": "14"}}'`,
    `patch cm settings --type=merge -p 'not json'`,
    `patch cm nothing -p '{"data": {"a": "10"}}'`,

    `patch pod patient -p '{"metadata": {"finalizers": ["example.com/a"]}}'`,
    `patch pod patient -p '{"metadata": {"finalizers": ["example.com/b"]}}'`,
    "get pod patient -o jsonpath='{.metadata.finalizers}'",
    `patch pod patient -p '{"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a", "example.com/b"]}}'`,
    "get pod patient -o jsonpath='{.metadata.finalizers}'",
    `patch pod patient -p '{"spec": {"containers": [{"name": "two", "image": "example/two:2"}]}}'`,
    "get pod patient -o jsonpath='{.spec.containers[*].image}'",
    `patch pod patient --type=merge -p '{"spec": {"containers": [{"name": "two", "image": "example/two:3"}]}}'`,
    // The rest of the message compares two Go structs.
    { run: `patch pod patient -p '{"spec": {"nodeSelector": {"a": "b"}}}'`, lines: /Forbidden/ },
    `patch pod patient --subresource=status -p '{"status": {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}}'`,
    `patch pod patient --subresource=status -p '{"status": {"conditions": [{"type": "Other", "status": "False"}]}}'`,
    `get pod patient -o jsonpath='{range .status.conditions[*]}{.type}={.status} {end}{.status.phase}'`,
    'get pod patient --subresource=status -o name',
    `patch pod patient --subresource=nothing -p '{}'`,

    'label cm settings colour=red',
    'label cm settings colour=red',
    'label cm settings colour=blue',
    'label cm settings colour=blue --overwrite',
    'label cm settings colour-',
    'label cm settings colour-',
    { run: 'label cm settings a=1 b=2 --list', unordered: true },
    'label cm settings --list',
    'label cm --all team=one',
    'label cm -l team=one team=two --overwrite',
    'label cm settings "bad key=1"',
    'label cm settings key=bad/value',
    'label cm settings x=1 --overwrite --resource-version=1',
    'get cm -l team=two --show-labels',
    'annotate cm settings note="a note with spaces"',
    'annotate cm settings note=other',
    'annotate cm settings note=other --overwrite',
    "get cm settings -o jsonpath='{.metadata.annotations}'",
    'annotate cm settings note-',
    'annotate cm settings --list',
    'label node nothing a=b',
    'set image pod/patient one=example/one:9',
    "get pod patient -o jsonpath='{.spec.containers[*].image}'",
    'set env pod/patient --list',
    'delete pod patient --now',
  ],
};
