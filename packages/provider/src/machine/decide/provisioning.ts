import { managerFlags, parseProviderID } from '@tartan/api';
import type { Decision } from '../decision.ts';
import { failuresOf, lastAttemptOf, pauseMs, readPauseMs } from '../last-attempt.ts';
import { intervals } from '../requeue.ts';
import type { PresentHost } from '../observe/host.ts';
import { isProvisioned, type MachineFacts, type Snapshot } from '../snapshot.ts';

/** What is needed until the machine can log in to a Mac; `undefined`: nothing. */
export const decideClaim = (snapshot: Snapshot): Decision | undefined => {
  const { host, machine } = snapshot;
  switch (host.kind) {
    case 'none':
      return claimNew(snapshot);
    case 'absent':
      return host.server === 'gone'
        ? hostLost(machine, 'HostGone', host.message)
        : awaitHost(host.message, intervals.poll);
    case 'present':
      return checkHold(host, machine) ?? checkLogin(snapshot);
  }
};

const awaitHost = (message: string, forMs: number = intervals.resync): Decision => ({
  kind: 'await host',
  message,
  forMs,
});

/**
 * The machine no longer holds the Mac. If it was never provisioned, it claims another; otherwise Cluster API has its providerID for good,
 * and the Machine has to be deleted.
 */
const hostLost = (machine: MachineFacts, reason: 'HostGone' | 'HostReleased', message: string): Decision =>
  isProvisioned(machine.status) ? { kind: 'lost host', reason, message } : { kind: 'detach host', message };

const cannotClaim = (reason: Extract<Decision, { kind: 'cannot claim' }>['reason'], message?: string): Decision => ({
  kind: 'cannot claim',
  reason,
  message,
});

const mayClaim = ({ poolPrefix, allowedPoolPrefixes }: MachineFacts): boolean =>
  poolPrefix !== undefined && allowedPoolPrefixes.includes(poolPrefix);

/** A Node that is not this Mac has the machine's name, so no Mac can become that Node. The certificate approver checks again, uncached. */
export const nodeNameTaken = ({ node, machine: { name, providerID } }: Snapshot): Decision | undefined => {
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

const claimNew = (snapshot: Snapshot): Decision => {
  const { choice, fleetKey, machine } = snapshot;
  const { poolPrefix, allowedPoolPrefixes, versionedPin } = machine;
  if (poolPrefix === undefined) return cannotClaim('NoAdoptPoolPrefix');
  if (!mayClaim(machine))
    return cannotClaim(
      'PoolPrefixNotAllowed',
      `spec.adoptPoolPrefix is ${poolPrefix}, and this manager claims only from ${allowedPoolPrefixes.join(', ') || 'no pool'}. Add the prefix to ${managerFlags.adoptPoolPrefixes}, or correct the template and delete the Machine.`,
    );
  if (versionedPin) return cannotClaim('InvalidOSPin');
  const taken = nodeNameTaken(snapshot);
  if (taken !== undefined) return taken;
  // Scaleway puts keys on a Mac only at its first boot: a Mac that is wiped before the key is registered never accepts it.
  if (fleetKey.kind !== 'ready') return awaitKey(fleetKey);
  switch (choice.kind) {
    case 'not asked':
      return cannotClaim('NoAvailableHost');
    case 'none':
      return cannotClaim('NoAvailableHost', choice.message);
    case 'chosen':
      return { kind: 'reserve', serverID: choice.serverID };
  }
};

const awaitKey = (key: Exclude<Snapshot['fleetKey'], { kind: 'ready' }>): Decision => ({
  kind: 'await key',
  message: key.kind === 'unavailable' ? key.message : 'The SSH key of the fleet is being made.',
});

const checkHold = (host: PresentHost, machine: MachineFacts): Decision | undefined => {
  if (host.gone) return hostLost(machine, 'HostGone', host.message);
  if (host.holder === 'other' || host.release !== undefined) return hostLost(machine, 'HostReleased', host.message);
  if (host.holder === 'nobody') {
    // The MacHost of our Mac may have been lost and created again: it is ours if providerID names it and it has our name.
    const free =
      !host.abandoned &&
      ((host.nameMatches && host.providerIDMatches) ||
        (host.inPool && !isProvisioned(machine.status) && mayClaim(machine)));
    return free ? { kind: 'take' } : hostLost(machine, 'HostReleased', host.message);
  }
  if (host.abandoned && !isProvisioned(machine.status)) return awaitHost(host.message);
  // If a user renames a provisioned Mac, its MacHost restores the name, and its VMs run on.
  return host.nameVerified || isProvisioned(machine.status) ? undefined : awaitHost(host.message);
};

const checkLogin = (snapshot: Snapshot): Decision | undefined => {
  const { login, machine } = snapshot;
  const provisioned = isProvisioned(machine.status);
  if (login.kind === 'foreign') return cannotClaim('CredentialsPersistFailed', login.message);
  if (login.kind !== 'known' || (!login.hasPassword && !provisioned)) {
    const left = readPauseMs(snapshot);
    return left > 0 ? { kind: 'back off', forMs: left, reason: 'no login' } : { kind: 'fetch credentials' };
  }
  const { providerID } = machine;
  const { serverID = '' } = machine.status;
  if (providerID === undefined) return { kind: 'set provider id' };
  if (parseProviderID(providerID)?.serverID === serverID) return undefined;
  // A providerID is never overwritten: Cluster API has bound a Node by it, or is about to.
  return {
    kind: 'lost host',
    reason: 'HostReleased',
    message: `spec.providerID is ${providerID}, but the machine has the server ${serverID}, which it holds. Delete the Machine to get another one.`,
  };
};

/**
 * Provisioning: retry, restart once, release (tuist/tuist#11013). The release is checked first, so that failing restarts do not delay it.
 * Neither happens while Pods may run there: the agent has joined, and a wipe would end them.
 */
export const decideBootstrap = (snapshot: Snapshot): Decision => {
  const { host, fleetKey, idle, policy, machine } = snapshot;
  const { status } = machine;
  const attempts = failuresOf(status, 'Bootstrap');
  const mayEscalate = idle !== false;
  const poolPrefix = (host.kind === 'present' ? host.poolPrefix : undefined) ?? machine.poolPrefix;

  if (limitReached(attempts, policy.giveUpAfter) && mayEscalate && poolPrefix !== undefined)
    return { kind: 'release failed host', reason: 'BootstrapExhausted', poolPrefix };
  if (limitReached(attempts, policy.rebootAfter) && mayEscalate && status.bootstrapRebootIssued !== true)
    return { kind: 'reboot' };
  if (fleetKey.kind !== 'ready') return awaitKey(fleetKey);
  const reboot = rebootRemainingMs(snapshot);
  if (reboot > 0) return { kind: 'back off', forMs: Math.min(reboot, intervals.poll), reason: 'reboot' };
  const attempt = lastAttemptOf(status);
  const left = attempt?.task === 'Bootstrap' ? pauseMs(attempt, snapshot.now, snapshot.node) : 0;
  return left > 0 ? { kind: 'back off', forMs: left, reason: 'failure' } : { kind: 'bootstrap' };
};

const limitReached = (attempts: number, limit: number | undefined): boolean => limit !== undefined && attempts >= limit;

/** While the requested restart is in progress. A Mac that does not come back counts as unreachable after a while. */
const rebootRemainingMs = ({ now, host }: Snapshot): number => {
  if (host.kind !== 'present' || host.rebootRequestedAt === undefined) return 0;
  const { rebootRequestedAt, rebootIssuedAt, serverStatus } = host;
  // Scaleway still reports `ready` for a moment after the request.
  const issued = rebootIssuedAt !== undefined && rebootIssuedAt >= rebootRequestedAt ? rebootIssuedAt : Infinity;
  const over = now - issued >= intervals.afterFailure && serverStatus === 'ready';
  return over ? 0 : rebootRequestedAt + intervals.reboot - now;
};
