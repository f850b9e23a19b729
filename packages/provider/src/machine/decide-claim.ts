import { managerFlags, parseProviderID } from '@tartan/api';
import type { Decision } from './decision.ts';
import type { HostFacts, MachineFacts, PresentHost, Snapshot } from './snapshot.ts';

/** What is missing to a Mac that the machine may log in to; `undefined` when it has one. */
export const decideClaim = (snapshot: Snapshot, machine: MachineFacts): Decision | undefined => {
  const { host } = snapshot;
  switch (host.kind) {
    case 'none':
      return chooseOne(snapshot, machine);
    case 'absent':
      return host.server === 'gone' ? parted(machine, 'HostGone', host.message) : await_(host.message);
    case 'present':
      return ownIt(host, machine) ?? logIn(snapshot, machine);
  }
};

const await_ = (message: string): Decision => ({ kind: 'await host', message });

const isProvisioned = ({ memory }: MachineFacts): boolean => memory.initialization?.provisioned === true;

/**
 * The Mac is not the machine's any more. One that was never made ready takes another; one that was has told Cluster API its server for
 * ever, and nothing but its deletion helps.
 */
const parted = (machine: MachineFacts, reason: 'HostGone' | 'HostReleased', message: string): Decision =>
  isProvisioned(machine) ? { kind: 'lost host', reason, message } : { kind: 'let go', message };

const cannot = (reason: Extract<Decision, { kind: 'cannot claim' }>['reason'], message?: string): Decision => ({
  kind: 'cannot claim',
  reason,
  message,
});

const mayClaim = ({ poolPrefix, allowedPoolPrefixes }: MachineFacts): boolean =>
  poolPrefix !== undefined && allowedPoolPrefixes.includes(poolPrefix);

/** A Node of somebody else has the machine's name: no Mac can become that Node. The approval of its certificate looks again, uncached. */
export const nameTaken = ({ node }: Snapshot, { name, providerID }: MachineFacts): Decision | undefined => {
  if (node.kind !== 'foreign') return undefined;
  const who = node.providerID
    ? `is another server (${node.providerID})`
    : "has no providerID, and is not at the address of this machine's Mac";
  const remedies = [
    'Delete the Machine, to get one with another name',
    'delete the Node, if nobody needs it',
    ...(node.providerID || providerID === undefined
      ? []
      : [`set its spec.providerID to ${providerID}, if it is that Mac`]),
  ];
  return {
    kind: 'refuse',
    reason: 'NodeNameTaken',
    message: `The Node ${name} ${who}. Nobody else gets an identity under its name. ${remedies.join('; or ')}.`,
  };
};

const chooseOne = (snapshot: Snapshot, machine: MachineFacts): Decision => {
  const { choice, fleetKey } = snapshot;
  const { poolPrefix, allowedPoolPrefixes, versionedPin } = machine;
  if (poolPrefix === undefined) return cannot('NoAdoptPoolPrefix');
  if (!mayClaim(machine))
    return cannot(
      'PoolPrefixNotAllowed',
      `spec.adoptPoolPrefix is ${poolPrefix}, and this manager claims only from ${allowedPoolPrefixes.join(', ') || 'no pool'}. Add the prefix to ${managerFlags.adoptPoolPrefixes}, or correct the template and delete the Machine.`,
    );
  if (versionedPin) return cannot('InvalidOSPin');
  const taken = nameTaken(snapshot, machine);
  if (taken !== undefined) return taken;
  // Scaleway puts keys on a Mac at its first boot only: one that is wiped before the key is registered never lets us in.
  if (fleetKey.kind !== 'ready') return awaitKey(fleetKey);
  switch (choice.kind) {
    case 'not asked':
      return cannot('NoAvailableHost');
    case 'none':
      return cannot('NoAvailableHost', choice.message);
    case 'chosen':
      return { kind: 'reserve', serverID: choice.serverID };
  }
};

const awaitKey = (key: Exclude<Snapshot['fleetKey'], { kind: 'ready' }>): Decision => ({
  kind: 'await key',
  message: key.kind === 'unavailable' ? key.message : 'The SSH key of the fleet is being made.',
});

const ownIt = (host: PresentHost, machine: MachineFacts): Decision | undefined => {
  if (host.gone) return parted(machine, 'HostGone', host.message);
  if (host.holder === 'other' || host.release !== undefined) return parted(machine, 'HostReleased', host.message);
  if (host.holder === 'nobody') {
    // The MacHost of a Mac that was ours may have been lost and made again: it is ours if providerID names it and it bears our name.
    const free =
      !host.abandoned &&
      ((host.bearsMyName && host.boundToMe) || (host.inPool && !isProvisioned(machine) && mayClaim(machine)));
    return free ? { kind: 'take' } : parted(machine, 'HostReleased', host.message);
  }
  if (host.abandoned && !isProvisioned(machine)) return await_(host.message);
  // Somebody may rename a Mac at work: its MacHost puts that right, and its VMs run on.
  return host.named || isProvisioned(machine) ? undefined : await_(host.message);
};

const logIn = ({ host, login, restMs }: Snapshot, machine: MachineFacts): Decision | undefined => {
  const provisioned = isProvisioned(machine);
  if (login.kind === 'foreign') return cannot('CredentialsPersistFailed', login.message);
  if (login.kind !== 'known') return { kind: 'fetch credentials' };
  if (!login.hasPassword && !provisioned)
    return restMs > 0 ? { kind: 'back off', forMs: restMs, because: 'no password' } : { kind: 'fetch credentials' };
  if (machine.providerID === undefined) return { kind: 'set provider id' };
  if (parseProviderID(machine.providerID)?.serverID === machine.memory.serverID) return undefined;
  return elsewhere(host, machine);
};

/** A providerID is never overwritten (invariant 7): Cluster API has bound a Node by it, or is about to. */
const elsewhere = (host: HostFacts, { providerID = '', memory }: MachineFacts): Decision => ({
  kind: 'lost host',
  reason: 'HostReleased',
  message: `spec.providerID is ${providerID}, but the machine has the server ${memory.serverID ?? '(none)'}${
    host.kind === 'present' && host.holder === 'me' ? ', which it holds' : ''
  }. Delete the Machine to get another one.`,
});
