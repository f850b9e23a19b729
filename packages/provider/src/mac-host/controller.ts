import { annotations, type MacHost, parseProviderID, type ScalewayAppleSiliconMachine } from '@tartan/api';
import {
  annotationsChanged,
  anyOf,
  type Controller,
  type ControllerOptions,
  createController,
  done,
  fieldsChanged,
  fromInformer,
  generationChanged,
  ignoreNotFound,
  type Reconciler,
  type ReconcileResult,
  requestForObject,
  requeueAfter,
  requeueOnConflict,
  type Source,
} from '@tartan/kube';
import { inFlow, ScalewayError } from '@tartan/scaleway';
import type { Informers, Machine, Node } from '../controller-deps.ts';
import type { CoreCluster } from '../core/kinds.ts';
import { createPoolPrefixes } from '../inventory/pool-prefixes.ts';
import { waitingSince } from '../machine/machine.ts';
import { readHostPauseReasons } from '../pause/pauses.ts';
import { act } from './act.ts';
import { decide, type Decision } from './decide.ts';
import { type ActDeps, type ReconcileContext, writeStatus } from './guard.ts';
import { observe, readHolder, readServer } from './observe.ts';
import { hostsOfOtherOS } from './os-demand.ts';
import { createRefusalBackoff, isOutcomeUnknown, type RefusalBackoff } from './refusal-backoff.ts';
import { defaultLimits, type Limits, type Release } from './snapshot.ts';
import { refusedName, retryInMs } from './wipe.ts';
import { createSlots, workersBesideSlots } from '../slots.ts';

type MacHostOptions = Omit<ActDeps, 'limits' | 'poolPrefixes'> &
  Pick<Informers, 'macHosts' | 'machines' | 'nodes' | 'clusters'> &
  Pick<ControllerOptions, 'metrics'> & { readonly limits?: Partial<Limits> };

/**
 * Hosts for which Scaleway is asked at the same time, of each of the two groups. Few: a call waits for the rate limit after the checks that
 * allow it, and must be made soon after them.
 */
const scalewayCalls = 4;
/** Releases and retries take turns with claims at the rate limit, however many hosts cannot be wiped, renamed or read. */
const releaseFlow = 'mac-host-release';
const queueBackoff = { baseMs: 5000, maxMs: 5 * 60_000 };

/**
 * Brings every server at Scaleway to the state in its MacHost: held under its holder's name, or wiped and back in a pool. The only
 * controller that renames, reinstalls and restarts servers.
 * Needs: get, list, watch, patch, delete of machosts, patch of machosts/status; get, list, watch of scalewayapplesiliconmachines and of
 * clusters; list, watch, patch, delete of nodes.
 */
export const createMacHostController = (options: MacHostOptions): Controller => {
  const { macHosts, clock } = options;
  const poolPrefixes = createPoolPrefixes(options.allowedPoolPrefixes);
  const deps: ActDeps = {
    ...options,
    poolPrefixes: poolPrefixes.get,
    limits: { ...defaultLimits, ...options.limits },
  };
  const { pollMs } = deps.limits;
  const refusalBackoff = createRefusalBackoff(clock, pollMs);
  const claims = { slots: createSlots(scalewayCalls), deps };
  const releases = { slots: createSlots(scalewayCalls), deps: { ...deps, pool: inFlow(deps.pool, releaseFlow) } };
  const groups = [claims, releases];

  const reconcile: Reconciler = async (key, signal) => {
    let release: (() => void) | undefined;
    try {
      const host = macHosts.get(key);
      if (!host || host.metadata.deletionTimestamp !== undefined) {
        refusalBackoff.reset(key);
        return done;
      }
      const isRelease = host.spec.release !== undefined || refusalBackoff.isRefused(key, host.metadata.generation);
      const group = isRelease ? releases : claims;
      const acquireSlot = (): boolean => (release ??= group.slots.acquire(key)) !== undefined;
      const context = { host, snapshot: observe(group.deps, host), signal };
      // Not found: the MacHost was deleted meanwhile.
      return (await ignoreNotFound(reconcileHost(group.deps, refusalBackoff, acquireSlot, context))) ?? done;
    } finally {
      release?.();
      for (const { slots } of groups) slots.passEnded(key);
    }
  };

  return createController({
    ...options,
    name: 'mac-host',
    reconcile: requeueOnConflict(reconcile),
    sources: [
      () => {
        // Of an earlier term, with hosts that are gone by now.
        refusalBackoff.clear();
        return poolPrefixes.follow(macHosts);
      },
      hostSource(options),
      serverCacheSource(options),
      machineSource(options),
      nodeSource(options),
      clusterSource(options),
      ...groups.map(
        ({ slots }): Source =>
          (enqueue) =>
            slots.subscribe(enqueue),
      ),
    ],
    workers: groups.length * scalewayCalls + workersBesideSlots,
    backoff: queueBackoff,
  });
};

/** Decides, makes the live reads that the decision asks for, and decides again, until there is something to do. */
const reconcileHost = async (
  deps: ActDeps,
  refusalBackoff: RefusalBackoff,
  acquireSlot: () => boolean,
  first: ReconcileContext,
): Promise<ReconcileResult> => {
  const { generation } = first.host.metadata;
  let context = first;
  for (;;) {
    const { snapshot, signal } = context;
    const { id, spec } = snapshot;
    const decision = await decideWithLivePauses(deps, context);
    deps.log.debug('Looked at a Mac', { server: id, decision });
    const pauseMs = asksScaleway.has(decision.kind) ? refusalBackoff.remainingMs(id, generation) : 0;
    if (pauseMs > 0) return requeueAfter(pauseMs);
    // The end of another pass wakes this one.
    if (callsScaleway(decision) && !acquireSlot()) return requeueAfter(deps.limits.reportMs);
    try {
      if (decision.kind === 'read server') {
        // Returns a fresh view, for which `decide` asks for no other read.
        context = { ...context, snapshot: { ...snapshot, server: await readServer(deps, spec.zone, id, { signal }) } };
      } else if (decision.kind === 'read holder') {
        // Never `unseen`, which alone leads to another read.
        const holder = await readHolder(deps, spec.consumerRef, id, { signal });
        context = { ...context, snapshot: { ...snapshot, holder } };
      } else {
        const outcome = await act(deps, context, decision);
        refusalBackoff.reset(id);
        return outcome;
      }
    } catch (error) {
      if (!(error instanceof ScalewayError)) throw error;
      deps.log.warn('Scaleway did not do what a Mac needs', { server: id, decision: decision.kind, error });
      if (decision.kind === 'rename' && spec.release)
        return recordRefusedName(deps, context, spec.release, decision.to, error);
      const afterMs = refusalBackoff.record(id, generation, error);
      // The result of a reboot is recorded with its attempt.
      if (decision.kind === 'read server' || decision.kind === 'rename')
        await writeStatus(deps, context, undefined, { during: decision.kind, message: error.message });
      return requeueAfter(afterMs);
    }
  }
};

/** Recorded, unless only the response was lost and the server has the name. */
const recordRefusedName = async (
  deps: ActDeps,
  context: ReconcileContext,
  release: Release,
  to: string,
  error: ScalewayError,
): Promise<ReconcileResult> => {
  const { snapshot, signal } = context;
  if (isOutcomeUnknown(error)) {
    const after = await readServer(deps, snapshot.spec.zone, snapshot.id, { signal }).catch(ignoreScalewayError);
    if (after?.kind === 'seen' && after.server.name === to) return requeueAfter(0);
  }
  const now = deps.clock.now();
  const status = refusedName({ ...snapshot, now }, release, error.message);
  await writeStatus(deps, context, status);
  return requeueAfter(status.wipe ? retryInMs(status.wipe, now, deps.limits) : deps.limits.pollMs);
};

const ignoreScalewayError = (error: unknown): undefined => {
  if (!(error instanceof ScalewayError)) throw error;
};

/** With a stale cache of Clusters, attempts would be recorded and reverted over and over. */
const decideWithLivePauses = async (deps: ActDeps, { host, snapshot, signal }: ReconcileContext): Promise<Decision> => {
  const decision = decide(snapshot);
  if (!changesServer.has(decision.kind)) return decision;
  return decide({ ...snapshot, pauses: await readHostPauseReasons(deps, host, { signal }) });
};

const changesServer: ReadonlySet<Decision['kind']> = new Set(['rename', 'reinstall', 'request wipe', 'reboot']);
const asksScaleway: ReadonlySet<Decision['kind']> = new Set(['read server', 'rename', 'reinstall', 'reboot']);
const callsScaleway = ({ kind }: Decision): boolean => kind === 'request wipe' || asksScaleway.has(kind);

/** The recorded facts that decisions depend on. Not the reported ones: two managers that disagree would trigger each other for ever. */
const memoryChanged = fieldsChanged<MacHost>(
  ({ status }) =>
    status && [
      status.state,
      status.wipe,
      status.quarantine,
      status.installs,
      status.rebootIssuedAt,
      status.osRequested,
      status.claim,
    ],
);

/**
 * Changes of the spec, of the annotations for abandoning and pausing, and of our own records: the next step follows when the cache shows
 * the last one.
 */
const hostSource = ({ macHosts }: MacHostOptions): Source =>
  fromInformer(macHosts, requestForObject, anyOf<MacHost>(generationChanged, annotationsChanged, memoryChanged));

const serverCacheSource =
  ({ serverCache }: MacHostOptions): Source =>
  (enqueue) =>
    serverCache.subscribe(enqueue);

const machineChanged = fieldsChanged<ScalewayAppleSiliconMachine>((machine) => [
  annotations.paused in (machine.metadata.annotations ?? {}),
  machine.status?.serverID,
  waitingSince(machine),
  machine.spec.type,
]);

/**
 * The hosts that a machine affects: those that it holds, has reserved or has the name of; and while it finds none, the free ones that may be
 * reinstalled with another macOS for it.
 */
const machineSource = (options: MacHostOptions): Source => {
  const { macHosts, machines } = options;
  return fromInformer(
    machines,
    (machine: Machine) => {
      const { metadata, status } = machine;
      const isWaiting = waitingSince(machine) !== undefined;
      const hosts = [
        ...macHosts.byIndex('consumer', metadata.uid),
        ...macHosts.byIndex('serverName', metadata.name),
        ...(isWaiting ? hostsOfOtherOS(options, machine) : []),
      ];
      return [...(status?.serverID ? [status.serverID] : []), ...hosts.map((host) => host.metadata.name)];
    },
    machineChanged,
  );
};

/** The host that a Node runs on: a Mac without a machine may register its Node again. */
const nodeSource = ({ nodes }: MacHostOptions): Source =>
  fromInformer(
    nodes,
    ({ spec }: Node) => {
      const of = parseProviderID(spec?.providerID ?? '');
      return of ? [of.serverID] : [];
    },
    fieldsChanged<Node>(({ spec }) => [spec?.providerID, spec?.unschedulable]),
  );

const clusterPauseChanged = fieldsChanged<CoreCluster>(({ spec }) => spec?.paused);

/** All hosts: `hostPauseReasons` decides which ones a Cluster pauses, and pauses are rare. */
const clusterSource = ({ macHosts, clusters }: MacHostOptions): Source =>
  fromInformer(clusters, () => macHosts.list().map(({ metadata }) => metadata.name), clusterPauseChanged);
