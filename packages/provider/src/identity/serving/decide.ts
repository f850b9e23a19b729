import { askedNode, isNameOfMachine } from '../approve/observe.ts';
import { hasSubjectOf } from '../approve/subject.ts';
import { certificateLifetimeSeconds, kubeletServingSigner, nodeNameOf, nodesGroup, nodeUser } from '../names.ts';
import type { AlternativeNames } from './alternative-names.ts';
import type { Snapshot } from './observe.ts';
import { belongs, type Place } from './place.ts';
import { approved, type Decision, denied, left, waiting } from './verdicts.ts';

/** For a Node to be registered, or for Scaleway to tell an address that is new. Agents are patient for longer. */
const patienceMs = 5 * 60_000;
const lookAgainMs = 5_000;

/**
 * Who may answer under which address. All policy is here; pure and total.
 *
 * Ours are requests to the signer of kubelets' serving certificates that come from the Node of a machine, or ask for one. They are denied
 * for what cannot become right. What may be right a moment later waits: that the Node is there, and that its address is known.
 */
export const decide = (snapshot: Snapshot): Decision => {
  if (snapshot.signerName !== kubeletServingSigner) return left('OtherSigner');
  if (snapshot.settled) return left('Settled');
  if (!isOurs(snapshot)) return left('NotOurs');
  const { reading, names } = snapshot;
  if (!reading.ok) return denied('MalformedRequest');
  const name = askedNode(reading);
  if (name === undefined || !hasSubjectOf(reading.requested, name)) return denied('WrongSubject');
  const machine = snapshot.machines.get(name);
  if (machine === undefined) return denied('NoSuchMachine');
  if (machine.deleting) return denied('MachineIsBeingDeleted', name);
  if (snapshot.username !== nodeUser(name) || !snapshot.groups.includes(nodesGroup)) return denied('NotItself', name);
  if (!names.ok) return denied('ExtensionsAsked', name);
  return (
    formProblem(snapshot, reading.requested.keyIsRSA, name) ??
    nameProblem(names.names, name) ??
    placeProblem(snapshot, names.names, name) ??
    approved(name)
  );
};

const isOurs = ({ username, reading, machines }: Snapshot): boolean =>
  [nodeNameOf(username), askedNode(reading)].some((name) => isNameOfMachine(name, machines));

const formProblem = (
  { usages, expirationSeconds }: Snapshot,
  keyIsRSA: boolean,
  name: string,
): Decision | undefined => {
  const needed = ['digital signature', 'server auth'];
  const allowed = [...needed, ...(keyIsRSA ? ['key encipherment'] : [])];
  if (!usages.every((usage) => allowed.includes(usage)) || !needed.every((usage) => usages.includes(usage)))
    return denied('WrongUsages', name);
  // An address may be another Mac's tomorrow. Without a wish the signer would give the certificate a year.
  if (expirationSeconds === undefined || !(expirationSeconds <= certificateLifetimeSeconds))
    return denied('LifetimeTooLong', name);
  return undefined;
};

const nameProblem = ({ addresses, dnsNames, others }: AlternativeNames, name: string): Decision | undefined => {
  if (others > 0) return denied('ForeignNames', name);
  if (addresses.length === 0) return denied('NoNames', name);
  return dnsNames.every((dnsName) => dnsName === name) ? undefined : denied('NotItsName', name);
};

const placeProblem = (snapshot: Snapshot, { addresses }: AlternativeNames, name: string): Decision | undefined => {
  const { place } = snapshot;
  const why = place === undefined ? 'NodeMissing' : placeLacks(place, addresses);
  if (why === undefined) return undefined;
  const isYoung = snapshot.now - snapshot.createdAt < patienceMs;
  return isYoung ? waiting(why, lookAgainMs) : denied(why, name);
};

const placeLacks = (place: Place, addresses: readonly string[]): 'NodeMissing' | 'NotItsAddress' | undefined => {
  if (place.node.kind === 'absent') return 'NodeMissing';
  return addresses.every((address) => belongs(address, place)) ? undefined : 'NotItsAddress';
};
