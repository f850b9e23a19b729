import { annotations, secretNames } from '@tartan/api';
import { isConditionTrue } from '@tartan/kube';
import { isReady } from './cluster-state.ts';
import { type Harness, poolPrefix } from './harness.ts';
import { summaryOn } from './mac.ts';

/** What is missing, as sentences. */
export type Missing = readonly string[];

const unless = (holds: boolean, what: string): Missing => (holds ? [] : [what]);

/** A machine with its own Mac, provisioned, and with a Ready Node. */
export const isHealthyMachine = ({ facts, macs, scaleway, alias }: Harness, name: string): Missing => {
  const machine = facts.machine(name);
  const id = machine?.status?.serverID;
  if (machine === undefined || id === undefined) return [`${name} has no Mac`];
  const host = facts.host(id);
  const mac = macs.get(id);
  const node = facts.node(name);
  const { status } = machine;
  return [
    ...unless(host?.spec.consumerRef?.uid === machine.metadata.uid, `${name} does not hold ${alias(id)}`),
    ...unless(host?.status?.state === 'held', `${alias(id)} is ${host?.status?.state}`),
    ...unless(
      scaleway.servers().some((server) => server.id === id && server.name === name),
      `no server is called ${name}`,
    ),
    ...unless(status?.initialization?.provisioned === true, `${name} is not provisioned`),
    ...unless(node !== undefined && isReady(node), `the Node ${name} is not Ready`),
    ...unless(
      node?.metadata.annotations?.[annotations.hostConfigHash] === summaryOn(mac),
      `the Node ${name} has another hash than its Mac`,
    ),
    ...unless(node?.spec?.unschedulable !== true, `the Node ${name} is cordoned`),
    ...unless(status?.ready === true, `${name} is not ready`),
    ...unless(status?.desiredHostConfigHash === summaryOn(mac), `${name} shall have something else than its Mac has`),
    ...unless(status?.joinTokenID === undefined, `${name} has a token that it does not need any more`),
    ...unless(mac.hasIdentity, `the Mac of ${name} has no identity`),
  ];
};

/** A machine that is paused, reports it, and has lost nothing. */
export const keepsItsMac = ({ facts, scaleway, alias }: Harness, name: string): Missing => {
  const machine = facts.machine(name);
  const id = machine?.status?.serverID ?? '';
  return [
    ...unless(isConditionTrue(machine?.status?.conditions, 'Paused'), `${name} does not report Paused`),
    ...unless(facts.host(id)?.spec.consumerRef?.uid === machine?.metadata.uid, `${name} does not hold ${alias(id)}`),
    ...unless(
      scaleway.servers().some((server) => server.id === id && server.name === name && server.status === 'ready'),
      `no server that is ready is called ${name}`,
    ),
    ...unless(facts.node(name) !== undefined, `there is no Node ${name}`),
  ];
};

/** A free Mac, wiped. */
export const isFree = ({ facts, macs, scaleway, alias }: Harness, id: string, state = 'pool'): Missing => {
  const host = facts.host(id);
  const server = scaleway.servers().find((each) => each.id === id);
  const name = alias(id);
  return [
    ...unless(host?.status?.state === state, `${name} is ${host?.status?.state}, not ${state}`),
    ...unless(host?.spec.consumerRef === undefined, `${name} is held`),
    ...unless(host?.spec.release === undefined, `${name} is being released`),
    ...unless(server?.status === 'ready', `${name} is ${server?.status}`),
    ...unless(server?.name.startsWith(poolPrefix) === true, `${name} is called ${server?.name}`),
    ...unless(Object.keys(macs.get(id).stamps).length === 0, `${name} has traces of its last machine`),
  ];
};

/** No object of the machine is left. */
export const isFullyDeleted = ({ facts }: Harness, name: string): Missing => [
  ...unless(facts.machine(name) === undefined, `${name} is still there`),
  ...unless(facts.node(name) === undefined, `the Node ${name} is still there`),
  ...unless(
    !facts.secrets().some(({ metadata }) => metadata.name === `${name}-bootstrap`),
    `the Secret of ${name} is still there`,
  ),
];

/**
 * Every token belongs to a machine that needs it. Two managers that both believe to be the leader may leave one behind: it is useless, as
 * no machine refers to it, and Kubernetes removes it when it has expired.
 */
export const noTokenIsLost = ({ facts, managers }: Harness): Missing => {
  if (managers.filter(({ state }) => state !== 'dead').length > 1) return [];
  const needed = new Set(facts.machines().map(({ status }) => `bootstrap-token-${status?.joinTokenID}`));
  return facts
    .secrets()
    .filter(({ metadata }) => metadata.name.startsWith('bootstrap-token-') && !needed.has(metadata.name))
    .map(({ metadata }) => `${metadata.name} is nobody's`);
};

export const fleetIsUpToDate = ({ facts }: Harness, name: string): Missing => {
  const fleet = facts.fleets().find(({ metadata }) => metadata.name === name);
  const condition = (type: string) => fleet?.status?.conditions?.find((each) => each.type === type);
  return [
    ...unless(fleet !== undefined, `there is no MacFleet ${name}`),
    ...unless((fleet?.status?.turns ?? []).length === 0, `the fleet ${name} has turns`),
    ...unless(
      condition('Stalled')?.status !== 'True',
      `the fleet ${name} is stalled: ${condition('Stalled')?.message}`,
    ),
    ...unless(condition('Rolling')?.status !== 'True', `the fleet ${name} rolls`),
  ];
};

/** Stored in a Secret, registered once, and recorded. */
export const hasKey = ({ facts, scaleway }: Harness, fleet: string): Missing => {
  const secret = facts.secrets().find(({ metadata }) => metadata.name === secretNames.fleetSSH(fleet));
  const registered = scaleway.keys().filter(({ name }) => name === fleet);
  const noted = secret?.metadata.annotations?.[annotations.sshKeyID];
  return [
    ...unless(secret !== undefined, `the fleet ${fleet} has no key`),
    ...unless(registered.length === 1, `the key of ${fleet} is registered ${registered.length} times`),
    ...unless(
      registered.some(({ id }) => id === noted),
      `it is not noted how the key of ${fleet} is registered`,
    ),
  ];
};
