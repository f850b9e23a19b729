import type { DetailedStep, KubectlScript } from '../script.ts';

const node = (name: string): string => `
apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels: {kubernetes.io/hostname: ${name}, kubernetes.io/os: darwin, kubernetes.io/arch: arm64, node-role.kubernetes.io/mac: ""}
spec: {providerID: tartan://${name}}
`;

const nodeStatus = JSON.stringify({
  status: {
    capacity: { cpu: '8', memory: '16Gi', pods: '2', 'ephemeral-storage': '200Gi' },
    allocatable: { cpu: '8', memory: '15Gi', pods: '2', 'ephemeral-storage': '180Gi' },
    conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: 'Told',
      message: 'as it was told',
      lastHeartbeatTime: '2026-11-15T00:00:00Z',
      lastTransitionTime: '2026-11-15T00:00:00Z',
    })),
    addresses: [
      { type: 'InternalIP', address: '192.0.2.10' },
      { type: 'Hostname', address: 'mac' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: 'm',
      systemUUID: 's',
      bootID: 'b',
      kernelVersion: '25.0.0',
      osImage: 'macOS 26',
      containerRuntimeVersion: 'tart://2.0.0',
      kubeletVersion: 'v1.36.3',
      kubeProxyVersion: '',
      operatingSystem: 'darwin',
      architecture: 'arm64',
    },
  },
});

const pod = (name: string, more = ''): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  nodeSelector: {kubernetes.io/os: darwin}
  terminationGracePeriodSeconds: 10
  containers:
  - name: vm
    image: example/macos:26
    command: [run]
    args: [--fast]
    env: [{name: A, value: b}]
    ports: [{containerPort: 22, name: ssh}]
    resources: {requests: {cpu: "2", memory: 4Gi}, limits: {cpu: "4", memory: 8Gi}}
    volumeMounts: [{name: settings, mountPath: /etc/settings, readOnly: true}]
  volumes: [{name: settings, configMap: {name: settings, optional: true}}]
${more}
`;

/** A Node without a heartbeat for 50 seconds counts as dead, and the script may run on a slow machine. */
const heartbeat = (number: number): string =>
  `patch node mac-1 --subresource=status -p '{"status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": "2026-11-15T00:00:0${number}Z"}]}}'`;

/** Waits until the node lifecycle controller has removed the taint of every new Node. */
const untainted = (name: string): DetailedStep => ({
  run: `get node ${name} -o jsonpath='{.spec.taints[*].key}'`,
  until: /^$/,
});

/** How often the scheduler fails before the Node is ready depends on timing. */
const describePod: DetailedStep = { run: 'describe pod waiting', lines: /^(?!.*FailedScheduling)/ };

export const nodesAndPods: KubectlScript = {
  title: 'nodes and pods',
  namespace: 'nodes',
  steps: [
    'get nodes',
    { run: 'create -f -', input: pod('waiting') },
    'wait pod/waiting --for=condition=PodScheduled=False --timeout=300s',
    'get pods',
    'get pods -o wide',
    { run: 'create -f -', input: node('mac-1') },
    'get nodes',
    `patch node mac-1 --subresource=status -p '${nodeStatus}'`,
    untainted('mac-1'),
    'get nodes',
    'get nodes -o wide',
    { run: 'get no --show-labels', until: /beta\.kubernetes\.io\/os/ },
    'get node mac-1 -o yaml',
    'get nodes -l node-role.kubernetes.io/mac',
    'get nodes --field-selector spec.unschedulable=true',
    'wait node/mac-1 --for=condition=Ready --timeout=300s',

    'wait pod/waiting --for=condition=PodScheduled --timeout=300s',
    'get pods -o wide',
    'get pod waiting -o yaml',
    describePod,
    'get pods --field-selector spec.nodeName=mac-1',
    'get pods --field-selector status.phase=Pending',
    'get pods --field-selector status.phase!=Pending',
    'get pods --field-selector spec.nothing=1',
    'get pods -A --field-selector spec.nodeName=mac-1',
    { run: 'get events --namespace=default --field-selector reason=RegisteredNode -o name', until: /event/ },
    'describe node mac-1',

    heartbeat(1),
    `patch pod waiting --subresource=status -p '{"status": {"phase": "Running", "podIP": "192.0.2.20", "podIPs": [{"ip": "192.0.2.20"}], "hostIP": "192.0.2.10", "startTime": "2026-11-15T00:00:00Z", "conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}, {"type": "ContainersReady", "status": "True"}], "containerStatuses": [{"name": "vm", "ready": true, "started": true, "restartCount": 2, "image": "example/macos:26", "imageID": "sha256:1", "containerID": "tart://1", "state": {"running": {"startedAt": "2026-11-15T00:00:00Z"}}}]}}'`,
    { run: 'get pods', lines: /NAME|waiting/ },
    'wait pod/waiting --for=condition=Ready --timeout=300s',
    'get pods -l app=waiting -o custom-columns=NAME:.metadata.name,IP:.status.podIP,PHASE:.status.phase',
    describePod,

    'cordon mac-1',
    'cordon mac-1',
    'get nodes',
    { run: "get node mac-1 -o jsonpath='{.spec}'", until: /timeAdded/ },
    'get nodes --field-selector spec.unschedulable=true -o name',
    { run: 'create -f -', input: pod('late') },
    'wait pod/late --for=condition=PodScheduled=False --timeout=300s',
    { run: "get pod late -o jsonpath='{.status.conditions[0].message}'" },
    heartbeat(2),
    'uncordon mac-1',
    'uncordon mac-1',
    'wait pod/late --for=condition=PodScheduled --timeout=300s',
    { run: 'create -f -', input: pod('third') },
    'wait pod/third --for=condition=PodScheduled=False --timeout=300s',
    "get pod third -o jsonpath='{.status.conditions[0].reason} {.status.conditions[0].message}'",
    'get pods',

    heartbeat(3),
    'taint node mac-1 dedicated=ci:NoSchedule',
    'taint node mac-1 dedicated=ci:NoSchedule',
    'taint node mac-1 dedicated=other:NoSchedule --overwrite',
    'get node mac-1 -o jsonpath=\'{.spec.taints[?(@.key=="dedicated")].value}\'',
    'taint node mac-1 dedicated-',
    'taint node mac-1 dedicated-',
    'taint node mac-1 dedicated=ci:Nonsense',
    'label node mac-1 golden=yes',
    'annotate node mac-1 note=x',

    heartbeat(4),
    'drain mac-1 --dry-run=server',
    'drain mac-1 --timeout=5s',
    {
      run: 'drain mac-1 --force --grace-period=1 --timeout=2s',
      lines: /^(evicting|node\/|Warning|pod\/|error when)/,
      unordered: true,
    },
    { run: 'get pods', unordered: true },
    'get pod waiting -o jsonpath=\'{.metadata.deletionGracePeriodSeconds} {.status.conditions[?(@.type=="DisruptionTarget")].reason}\'',
    heartbeat(5),
    'delete pods --all --force --grace-period=0',
    'drain mac-1',
    'get nodes',
    'uncordon mac-1',
    'drain nothing',

    { run: 'create -f -', input: pod('bound', '  nodeName: mac-1') },
    { run: 'create -f -', input: pod('bad').replace('image:', 'picture:') },
    { run: 'create -f -', input: pod('bad').replace('name: vm', 'name: VM!') },
    { run: 'create -f -', input: pod('bad').replace('cpu: "2"', 'cpu: two') },
    { run: 'create -f -', input: pod('bad').replace('cpu: "2"', 'cpu: "8"') },
    { run: 'create -f -', input: pod('bad', '  restartPolicy: Sometimes') },
    { run: 'create -f -', input: pod('bad', '  serviceAccountName: nobody') },
    { run: 'create -f -', input: pod('bad').replace('name: settings, configMap', 'name: other, configMap') },
    'run quick --image=example/macos:26',
    'run quick --image=example/macos:26',
    'run dry --image=example/macos:26 --dry-run=server -o yaml',
    'get pod quick -o name',
    'delete pod quick bound --force --grace-period=0',
    'delete node mac-1',
    'get nodes',
    'get node mac-1',
  ],
};
