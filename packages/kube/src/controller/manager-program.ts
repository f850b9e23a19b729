import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createClient } from '../client/create-client.ts';
import { createRequestLimiter } from '../client/request-limiter.ts';
import { createSubresources } from '../client/subresources.ts';
import type { Clock, Random } from '../clock/clock.ts';
import { systemClock } from '../clock/index.ts';
import type { ClusterConfig } from '../config/cluster-config.ts';
import { loadConfig } from '../config/load-config.ts';
import { untilAborted } from '../errors/abort-signal.ts';
import { createEventRecorder } from '../events/recorder.ts';
import type { ManagerFlagValues } from '../flags/manager-flags.ts';
import { createHealthServers } from '../health/health-server.ts';
import { createLeaderElection } from '../leader/election.ts';
import { alwaysOpenGate } from '../leader/gate.ts';
import { createLogger, type Logger } from '../logs/logger.ts';
import { createRedactor, type Redactor } from '../logs/redaction.ts';
import { type Metrics, withRequestMetrics } from '../metrics/metrics.ts';
import { exitCodes, type ProcessContext } from '../program.ts';
import { httpsTransport } from '../transport/https-transport.ts';
import type { Transport } from '../transport/transport.ts';
import { createManager, type ManagerOptions, type ManagerResult } from './manager.ts';

/** Dependencies of a manager. The caller owns the transport, and closes it after `run` has ended. */
export interface ManagerDeps<Options extends ManagerFlagValues = ManagerFlagValues> {
  readonly options: Options;
  readonly transport: Transport;
  /** Host and port of the API server, for metrics. */
  readonly apiHost: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Unique per process: changes with a restart. */
  readonly identity: string;
}

interface ManagerNames {
  /** The source component of events, and the field manager of writes. */
  readonly component: string;
  readonly lease: string;
}

type ManagerWork = Omit<ManagerOptions, 'leaderElection' | 'readyz' | 'clock' | 'log'>;

const eventFlushMs = 2_000;

/** Clients, events, probes, metrics and leader election of a manager. Starts nothing before `run`. */
export const assembleManager = (deps: ManagerDeps, metrics: Metrics, { component, lease }: ManagerNames) => {
  const { options, clock, random, log, identity } = deps;
  const transport = withRequestMetrics(deps.transport, { host: deps.apiHost, count: metrics.countRequest });
  const limiter = createRequestLimiter({
    clock,
    random,
    ...options.requestLimits,
    onWait: ({ method }, milliseconds) =>
      metrics.requestWaited({ verb: method, host: deps.apiHost, seconds: milliseconds / 1000 }),
  });
  const clientOptions = (flow: string) => ({ clock, userAgent: component, flow: limiter.flow(flow) });
  const clientFor = (flow: string) => createClient(transport, clientOptions(flow));
  const events = createEventRecorder({
    client: clientFor('events'),
    clock,
    log,
    component,
    instance: identity,
  });
  const health = createHealthServers({ options, metrics, clock, log });
  const election =
    options.leaderElection &&
    createLeaderElection({
      // Unlimited: a leader that waits for its own controllers would lose the lease.
      client: createClient(transport, { clock, userAgent: component }),
      clock,
      random,
      lease: { namespace: options.leaderElection.namespace, name: lease },
      identity,
      durations: options.leaderElection.durations,
      log,
      metrics: metrics.setLeader,
    });
  let isLeading = false;
  const leadershipTracker = {
    name: 'leader metrics',
    run: async (leading: AbortSignal) => {
      isLeading = true;
      await untilAborted(leading);
      isLeading = false;
    },
  };
  return {
    /** The client of a controller. Flows take turns when the limits of this process are reached. */
    clientFor,
    subresourcesFor: (flow: string) => createSubresources(transport, clientOptions(flow)),
    events,
    /** Checked before every destructive call of this process. */
    gate: election?.gate ?? alwaysOpenGate,
    readyz: health.readyz,
    addresses: health.addresses,
    /** Whether this process leads. Only the leader reports metrics that replicas would duplicate. */
    isLeading: () => isLeading,
    /** Serves probes and metrics while `work` runs. Flushes events at the end. */
    serve: (signal: AbortSignal, work: (signal: AbortSignal) => Promise<ManagerResult>): Promise<ManagerResult> =>
      health.serveWhile(signal, async (either) => {
        const result = await work(either);
        await events.flush(eventFlushMs);
        return result;
      }),
    /** Runs caches, then controllers; the leader-only ones under leader election. */
    manage: ({ leaderOnly = [], ...work }: ManagerWork, signal: AbortSignal): Promise<ManagerResult> =>
      createManager({
        ...work,
        leaderOnly: [...leaderOnly, leadershipTracker],
        ...(election && { leaderElection: election }),
        readyz: health.readyz,
        clock,
        log,
      }).run(signal),
  };
};

type ParsedOptions<Options> =
  | { readonly options: Options }
  | { readonly help: string }
  /** All errors at once. */
  | { readonly errors: readonly string[] };

export interface ManagerProgram<Options extends ManagerFlagValues> {
  /** Subject of its log messages: `The manager`. */
  readonly title: string;
  readonly version: string;
  readonly parse: (argv: readonly string[], env: ProcessContext['env']) => ParsedOptions<Options>;
  /** `redactor` is the logger's: register every secret with it. */
  readonly create: (
    deps: ManagerDeps<Options> & { readonly redactor: Redactor },
    config: ClusterConfig,
  ) => Promise<{ run(signal: AbortSignal): Promise<ManagerResult> }>;
}

/** Runs a manager from its arguments and environment until the signal fires. Returns the exit code. */
export const runManagerProgram = async <Options extends ManagerFlagValues>(
  program: ManagerProgram<Options>,
  argv: readonly string[],
  context: ProcessContext,
): Promise<number> => {
  const { env, stdout, stderr } = context;
  if (argv.includes('--version') || argv.includes('-version')) {
    stdout(`${program.version}\n`);
    return exitCodes.done;
  }
  const parsed = program.parse(argv, env);
  if ('help' in parsed) {
    stdout(parsed.help);
    return exitCodes.done;
  }
  if ('errors' in parsed) {
    stderr(`${parsed.errors.join('\n')}\n--help shows all flags and variables.\n`);
    return exitCodes.usage;
  }
  const redactor = createRedactor();
  const log = createLogger({ ...parsed.options.log, write: stderr, clock: systemClock, redact: redactor });
  try {
    return await runWith(program, { options: parsed.options, log, redactor }, context);
  } catch (error) {
    log.error(`${program.title} cannot start`, { error });
    return exitCodes.failed;
  }
};

const runWith = async <Options extends ManagerFlagValues>(
  { title, version, create }: ManagerProgram<Options>,
  given: { readonly options: Options; readonly log: Logger; readonly redactor: Redactor },
  { env, signal }: ProcessContext,
): Promise<number> => {
  const { log, options } = given;
  const clock = systemClock;
  const config = await loadConfig({ env, clock, kubeconfigPath: options.kubeconfigPath });
  const identity = `${hostname()}_${randomUUID()}`;
  log.info(`${title} starts`, { version, identity, server: config.server });
  const transport = httpsTransport({ ...config, clock });
  const apiHost = new URL(config.server).host;
  const manager = await create({ ...given, transport, apiHost, clock, random: Math.random, identity }, config);
  const result = await manager.run(signal);
  transport.close();
  if (result.ok) log.info(`${title} has ended`);
  else log.error(`${title} has failed`, { reason: result.reason });
  return result.ok ? exitCodes.done : exitCodes.failed;
};
