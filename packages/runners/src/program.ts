import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  createLogger,
  createRedactor,
  exitCodes,
  httpsTransport,
  loadConfig,
  type Logger,
  type ProcessContext,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import packageFile from '../package.json' with { type: 'json' };
import { parseFlags, type RunnersOptions } from './flags.ts';
import { createRunnersManager } from './manager/runners-manager.ts';
import { createRunnerMetrics } from './metrics/runner-metrics.ts';

/** The runners controller as a program: what its arguments and variables say, until the signal fires. Answers the code to exit with. */
export const runRunners = async (argv: readonly string[], surroundings: ProcessContext): Promise<number> => {
  const { env, stdout, stderr } = surroundings;
  if (argv.includes('--version') || argv.includes('-version')) {
    stdout(`${packageFile.version}\n`);
    return exitCodes.done;
  }
  const flags = parseFlags(argv, env);
  if ('help' in flags) {
    stdout(flags.help);
    return exitCodes.done;
  }
  if ('errors' in flags) {
    stderr(`${flags.errors.join('\n')}\n--help shows all flags and variables.\n`);
    return exitCodes.usage;
  }
  const log = createLogger({ ...flags.options.log, write: stderr, clock: systemClock, redact: createRedactor() });
  try {
    return await run(flags.options, log, surroundings);
  } catch (error) {
    log.error('The runners controller cannot start', { error });
    return exitCodes.failed;
  }
};

const run = async (options: RunnersOptions, log: Logger, { env, signal }: ProcessContext): Promise<number> => {
  const clock = systemClock;
  const { kubeconfigPath } = options;
  const config = await loadConfig({ env, clock, ...(kubeconfigPath !== undefined && { kubeconfigPath }) });
  const identity = `${hostname()}_${randomUUID()}`;
  log.info('The runners controller starts', { version: packageFile.version, identity, server: config.server });
  const transport = httpsTransport({ ...config, clock });
  const manager = createRunnersManager({
    options,
    transport,
    apiHost: new URL(config.server).host,
    clock,
    random: Math.random,
    randomBytes,
    log,
    identity,
    metrics: createRunnerMetrics({ clock, process: true }),
  });
  const result = await manager.run(signal);
  transport.close();
  if (result.ok) log.info('The runners controller has ended');
  else log.error('The runners controller has failed', { reason: result.reason });
  return result.ok ? exitCodes.done : exitCodes.failed;
};
