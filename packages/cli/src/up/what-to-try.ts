import { kindNames, type KindNames } from '@tartan/api';
import type { Transport } from '@tartan/kube';
import { fleetNamespace } from './control-plane.ts';
import { demoPod } from './demo-pod.ts';
import { aligned } from '../aligned.ts';
import { kubectlTable } from './kubectl-table.ts';
import type { Voice } from './voice.ts';

const pathOf = ({ group, version, plural, namespaced }: KindNames): string =>
  `/apis/${group}/${version}/${namespaced ? `namespaces/${fleetNamespace}/` : ''}${plural}`;

const shown = [
  ['kubectl get machosts', pathOf(kindNames.macHost)],
  ['kubectl get samm', pathOf(kindNames.machine)],
  ['kubectl get macfleets', pathOf(kindNames.macFleet)],
  ['kubectl get pods', `/api/v1/namespaces/${fleetNamespace}/pods`],
] as const;

/** Pool, machines, fleet and Pods, as kubectl prints them. */
export const showFleet = async (transport: Transport, voice: Voice, signal: AbortSignal): Promise<void> => {
  for (const [command, path] of shown) {
    voice.say();
    voice.say(voice.bold(command));
    for (const line of await kubectlTable(transport, path, signal)) voice.say(`  ${line}`);
  }
};

export interface WhatToTry {
  readonly kubeconfig: string;
  readonly log: string;
  /** Somebody can press Enter. */
  readonly interactive: boolean;
}

export const showWhatToTry = (voice: Voice, { kubeconfig, log, interactive }: WhatToTry): void => {
  const commands = [
    ['npm run tartan -- fleet --watch', 'machines, Macs, Nodes and virtual machines, as they change'],
    ['npm run tartan -- explain mac-1', 'why it is where it is, what comes next, what you could do'],
    ['kubectl get pods -o wide', 'the Pod, and the Mac that it runs on'],
    [`kubectl logs -f ${demoPod.metadata.name}`, 'what its guest writes'],
    [`kubectl exec -it ${demoPod.metadata.name} -- sh`, 'a shell in the guest'],
    [`kubectl delete pod ${demoPod.metadata.name}`, 'the guest is shut down and its virtual machine deleted'],
    ['kubectl get nodes,samm', 'the machines and their Nodes'],
    [`kubectl patch samm mac-1 --type=merge -p '{"spec":{"maxPods":1}}'`, 'roll mac-1: only what changed is pushed'],
    ['kubectl get macfleets -w', 'who has a turn, and how far the roll is'],
    ['kubectl delete samm mac-1', 'its Mac is wiped and goes back to the pool'],
    ['kubectl delete machosts --all', 'forget the pool: it is found again, from names'],
    [`tail -f ${log}`, 'what the provider logs'],
  ];
  voice.say();
  voice.say('In another terminal:');
  voice.say(`  export KUBECONFIG=${kubeconfig}`);
  for (const line of aligned(commands.map(([command = '', what = '']) => [command, voice.dim(`# ${what}`)])))
    voice.say(`  ${line}`);
  voice.say();
  if (interactive) voice.say('Enter rolls a new version of the agent onto the fleet.');
  voice.say('Ctrl-C stops it and removes everything it made.');
};
