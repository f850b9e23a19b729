import {
  certificateLifetimeSeconds,
  joinGroup,
  kubeletClientSigner,
  nodeNameOf,
  nodesGroup,
  nodeUser,
  tokenIDOf,
} from '../names.ts';
import type { RequestedCertificate } from './certificate-request.ts';
import { askedNode, isNameOfMachine, type MachineIdentity, type Snapshot } from './observe.ts';
import { hasSubjectOf } from './subject.ts';
import { approved, type Decision, denied, left } from './verdicts.ts';

/**
 * Who becomes which Node. All policy is here; pure and total.
 *
 * Ours are requests to the signer of kubelets' client certificates that come with a join token, from the Node of a machine, or for the
 * Node of a machine. Those are approved or denied, never kept waiting: what is unclear now will not be clearer later. Everything else
 * is somebody else's, such as the Linux nodes of the same cluster; also when a machine has the name of one.
 */
export const decide = (snapshot: Snapshot): Decision => {
  if (snapshot.signerName !== kubeletClientSigner) return left('OtherSigner');
  if (snapshot.settled) return left('Settled');
  if (!isOurs(snapshot)) return left('NotOurs');
  if (!snapshot.reading.ok) return denied('MalformedRequest');
  const { requested } = snapshot.reading;
  const name = askedNode(snapshot.reading);
  if (name === undefined || !hasSubjectOf(requested, name)) return denied('WrongSubject');
  const machine = snapshot.machines.get(name);
  if (machine === undefined) return denied('NoSuchMachine');
  if (machine.node === 'foreign') return denied('NodeNameTaken', name);
  if (machine.deleting) return denied('MachineIsBeingDeleted', name);
  return requesterProblem(snapshot, name, machine) ?? formProblem(snapshot, requested, name) ?? welcome(snapshot, name);
};

const isOurs = ({ groups, username, reading, machines }: Snapshot): boolean =>
  groups.includes(joinGroup) ||
  [nodeNameOf(username), askedNode(reading)].some((name) => isNameOfMachine(name, machines));

const isRenewal = ({ username, groups }: Snapshot): boolean =>
  nodeNameOf(username) !== undefined && groups.includes(nodesGroup);

/** A Node renews itself; a token makes the one Node that it was minted for; nobody else has a say. */
const requesterProblem = (snapshot: Snapshot, name: string, machine: MachineIdentity): Decision | undefined => {
  if (isRenewal(snapshot)) return snapshot.username === nodeUser(name) ? undefined : denied('NotItself', name);
  const tokenID = tokenIDOf(snapshot.username);
  if (tokenID === undefined || !snapshot.groups.includes(joinGroup)) return denied('NotItsToken', name);
  if (machine.tokenID !== tokenID) return denied('NotItsToken', name);
  // The API server took it when the request was made; that may have been long ago.
  if (machine.tokenExpiresAt !== undefined && !(snapshot.now < machine.tokenExpiresAt))
    return denied('TokenExpired', name);
  return undefined;
};

const formProblem = (
  { usages, expirationSeconds }: Snapshot,
  { attributes, keyIsRSA }: RequestedCertificate,
  name: string,
): Decision | undefined => {
  if (attributes.length > 0) return denied('ExtensionsAsked', name);
  const allowed = ['client auth', 'digital signature', ...(keyIsRSA ? ['key encipherment'] : [])];
  const needed = ['client auth', 'digital signature'];
  if (!usages.every((usage) => allowed.includes(usage)) || !needed.every((usage) => usages.includes(usage)))
    return denied('WrongUsages', name);
  // Without a wish the signer would give it a year.
  if (expirationSeconds === undefined || !(expirationSeconds <= certificateLifetimeSeconds))
    return denied('LifetimeTooLong', name);
  return undefined;
};

const welcome = (snapshot: Snapshot, name: string): Decision =>
  approved(isRenewal(snapshot) ? 'NodeRenewsItself' : 'MachineJoins', name);
