import type { KubectlScript } from '../script.ts';

const settings = (data: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: demo}}
data: ${data}
`;

const role = (rules: string): string => `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: ${rules}
`;

export const applying: KubectlScript = {
  title: 'apply and diff',
  namespace: 'applying',
  steps: [
    { run: 'diff -f -', input: settings('{a: "1"}') },
    { run: 'apply -f -', input: settings('{a: "1"}') },
    { run: 'apply -f -', input: settings('{a: "1"}') },
    { run: 'diff -f -', input: settings('{a: "1"}') },
    { run: 'diff -f -', input: settings('{a: "2", b: "3"}') },
    { run: 'apply --dry-run=server -f -', input: settings('{a: "2", b: "3"}') },
    { run: 'apply --dry-run=client -f -', input: settings('{a: "2", b: "3"}') },
    { run: 'apply -f -', input: settings('{a: "2", b: "3"}') },
    'get cm settings -o yaml',
    { run: 'apply -f -', input: settings('{b: "3"}') },
    "get cm settings -o jsonpath='{.data}'",
    'apply view-last-applied cm/settings',
    { run: 'apply set-last-applied -f -', input: settings('{b: "4"}') },
    { run: 'apply -o yaml -f -', input: settings('{b: "5"}') },
    { run: 'apply -o name -f -', input: settings('{b: "5"}') },

    { run: 'apply -f -', input: role('[{apiGroups: [""], resources: [pods], verbs: [get]}]') },
    { run: 'apply -f -', input: role('[{apiGroups: [""], resources: [pods, secrets], verbs: [get, list]}]') },
    'get role reader -o yaml',

    { run: 'apply -f -', input: settings('{b: 5}') },
    { run: 'apply -f -', input: settings('{b: "5"}\nmistake: true') },
    { run: 'apply --validate=warn -f -', input: settings('{b: "6"}\nmistake: true') },
    { run: 'apply --validate=ignore -f -', input: settings('{b: "7"}\nmistake: true') },
    { run: 'apply -f -', input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n' },
    { run: 'apply -f -', input: 'apiVersion: v1\nkind: Confusion\nmetadata: {name: x}\n' },
    { run: 'delete -f -', input: settings('{}') },
    { run: 'delete -f -', input: settings('{}') },
  ],
};

export const creatingAndReplacing: KubectlScript = {
  title: 'create, replace and the commands that generate objects',
  namespace: 'creating',
  steps: [
    { run: 'create -f -', input: settings('{a: "1"}') },
    { run: 'create -f -', input: settings('{a: "1"}') },
    { run: 'create -f - --dry-run=server -o yaml', input: settings('{a: "1"}').replace('settings', 'dry') },
    'get cm dry',
    { run: 'create -f - -o yaml', input: settings('{a: "1"}').replace('name: settings', 'generateName: generated-') },
    { run: 'replace -f -', input: settings('{a: "2"}') },
    "get cm settings -o jsonpath='{.data} {.metadata.labels}'",
    { run: 'replace -f -', input: settings('{a: "2"}').replace('settings', 'absent') },
    { run: 'get cm settings -o yaml', capture: 'OLD' },
    'label cm settings changed=yes',
    { run: 'replace -f -', input: '$OLD' },
    { run: 'replace --force -f -', input: settings('{a: "3"}') },
    'create namespace creating-too',
    'create namespace creating-too',
    'create ns Wrong_Name',
    'create configmap literal --from-literal=a=1 --from-literal=b=2',
    'create configmap literal --from-literal=a=1',
    'get cm literal -o yaml',
    'create secret generic plain --from-literal=a=1',
    'create secret docker-registry registry --docker-server=registry.example --docker-username=u --docker-password=p',
    'get secrets',
    'describe secret registry',
    'create secret generic typed --type=example.com/custom --from-literal=a=1',
    "get secret typed -o jsonpath='{.type}'",
    'create secret generic token --type=bootstrap.kubernetes.io/token --from-literal=token-id=abcdef',
    'create serviceaccount robot',
    'create sa robot',
    'get sa',
    'describe sa robot',
    'create token robot',
    'create token robot --duration=10m --audience=example -o jsonpath={.spec.audiences}',
    'create token robot --duration=1s',
    'create token nobody',
    'create role reader --verb=get,list --resource=pods,configmaps',
    'create rolebinding readers --role=reader --serviceaccount=creating:robot --user=jane',
    'get role,rolebinding',
    'get rolebinding -o wide',
    'describe role reader',
    'describe rolebinding readers',
    'create clusterrole creating-nodes --verb=get --resource=nodes',
    'create clusterrolebinding creating-nodes --clusterrole=creating-nodes --group=operators',
    'get clusterrole creating-nodes',
    'get clusterrolebinding creating-nodes -o wide',
    'describe clusterrole creating-nodes',
    'describe clusterrolebinding creating-nodes',
    {
      run: 'create -f -',
      input: `apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: lock}\nspec: {holderIdentity: me, leaseDurationSeconds: 40, renewTime: "2026-01-02T03:04:05.678900Z"}\n`,
    },
    'get leases',
    'get lease lock -o yaml',
    'describe lease lock',
  ],
};
