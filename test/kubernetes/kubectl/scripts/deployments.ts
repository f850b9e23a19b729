import type { KubectlScript, Step } from '../script.ts';

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: rolling, labels: {app: rolling}}
spec:
  selector: {matchLabels: {app: rolling}}
  template:
    metadata: {labels: {app: rolling}}
    spec: {schedulerName: nobody, containers: [{name: one, image: "example/one:1"}]}
`;

const ready = JSON.stringify({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } });

/** There is no kubelet: the script makes the one pending Pod ready. */
const letStart: Step[] = [
  {
    run: "get pods --field-selector=status.phase=Pending -o jsonpath='{.items[0].metadata.name}'",
    until: /^rolling-/,
    capture: 'POD',
  },
  `patch pod $POD --subresource=status --type=strategic -p '${ready}'`,
  // How much of it is printed depends on timing.
  { run: 'rollout status deployment/rolling --timeout=300s', lines: /successfully/ },
  { run: 'get pods --no-headers', until: /^rolling-\S+ +\S+ +Running.*\n$/, lines: /Running/ },
];

export const deployments: KubectlScript = {
  title: 'deployments: rollout, undo, scale',
  namespace: 'rolling',
  steps: [
    { run: 'create -f -', input: deployment },
    'rollout status deployment/rolling --timeout=1s',
    ...letStart,
    'get deploy',
    'get deploy,rs -o wide',
    'get deploy rolling -o yaml',
    'get rs -o yaml',
    'rollout history deployment/rolling',
    'annotate deployment/rolling kubernetes.io/change-cause=first',
    { run: 'rollout history deployment/rolling', until: /first/ },
    'set image deployment/rolling one=example/one:2',
    ...letStart,
    { run: 'rollout history deployment/rolling', until: /2 / },
    'rollout history deployment/rolling --revision=1',
    'rollout undo deployment/rolling --dry-run=server',
    'rollout undo deployment/rolling',
    ...letStart,
    { run: 'rollout history deployment/rolling', until: /3 / },
    { run: 'get rs', unordered: true },
    'rollout undo deployment/rolling --to-revision=9',
    'rollout pause deployment/rolling',
    'rollout pause deployment/rolling',
    'rollout restart deployment/rolling',
    'rollout resume deployment/rolling',
    'rollout restart deployment/rolling',
    ...letStart,
    'scale deployment/rolling --replicas=3 --current-replicas=2',
    'scale deployment/rolling --replicas=3',
    { run: 'get pods --no-headers', until: /(rolling.*\n){3}/, lines: /(?!)/ },
    { run: 'get deploy', until: /1\/3 +3 / },
    'scale deployment/rolling --replicas=0',
    { run: 'get deploy', until: /0\/0 +0 +0 / },
    { run: 'describe deploy rolling', lines: /^(?! {2}(Normal|Warning)|(Old|New)ReplicaSet|Annotations|Pod Template)/ },
    { run: 'get deploy rolling -o yaml', lines: /^(?! +(restartedAt|lastUpdateTime))/ },
    { run: 'delete deploy rolling', lines: /./ },
    { run: 'get rs', until: /^$/, lines: /(?!)/ },

    'create deployment typed --image=example/two --replicas=0',
    { run: 'get deploy typed -o yaml', until: /observedGeneration: 1/ },
    'patch deploy typed -p \'{"spec": {"selector": {"matchLabels": {"app": "other"}}}}\'',
    'set env deploy/typed A=b',
    'set resources deploy/typed --limits=cpu=1',
    'get deploy typed -o jsonpath={.spec.template.spec.containers[0]}',
    'delete deploy typed --cascade=foreground --wait=false',
    { run: 'create -f -', input: deployment.replace('app: rolling}}\n  template', 'app: other}}\n  template') },
  ],
};
