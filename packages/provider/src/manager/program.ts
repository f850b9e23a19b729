import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  createLogger,
  createRedactor,
  exitCodes,
  httpsTransport,
  loadConfig,
  type Logger,
  type ProcessContext,
  type Redactor,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createHostPool } from '@tartan/scaleway';
import packageFile from '../../package.json' with { type: 'json' };
import { type Credentials, parseCredentials } from '../flags/parse-credentials.ts';
import { parseFlags } from '../flags/parse-flags.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import { loadHostSettings } from '../host-work/host-settings.ts';
import { createProvider } from './create-provider.ts';
import { createProviderMetrics } from './provider-metrics.ts';

/** The manager as a program: what its arguments and variables say, until the signal fires. Answers the code to exit with. */
export const runManager = async (argv: readonly string[], surroundings: ProcessContext): Promise<number> => {
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
  const credentials = parseCredentials(env);
  if ('errors' in flags || 'errors' in credentials) {
    const errors = [flags, credentials].flatMap((parsed) => ('errors' in parsed ? parsed.errors : []));
    stderr(`${errors.join('\n')}\n--help shows all flags and variables.\n`);
    return exitCodes.usage;
  }
  const redactor = createRedactor();
  redactor.add(credentials.credentials.secretKey.reveal());
  const log = createLogger({ ...flags.options.log, write: stderr, clock: systemClock, redact: redactor });
  try {
    return await run({ ...flags, ...credentials, redactor, log }, surroundings);
  } catch (error) {
    log.error('The manager cannot start', { error });
    return exitCodes.failed;
  }
};

interface ParsedInput {
  readonly options: ProviderOptions;
  readonly credentials: Credentials;
  readonly redactor: Redactor;
  readonly log: Logger;
}

const run = async (given: ParsedInput, { env, signal }: ProcessContext): Promise<number> => {
  const { options, redactor, log } = given;
  const clock = systemClock;
  const { kubeconfigPath } = options;
  const config = await loadConfig({ env, clock, ...(kubeconfigPath !== undefined && { kubeconfigPath }) });
  const settings = await loadHostSettings(options);
  const metrics = createProviderMetrics({ clock, process: true });
  const identity = `${hostname()}_${randomUUID()}`;
  log.info('The manager starts', { version: packageFile.version, identity, server: config.server });
  const transport = httpsTransport({ ...config, clock });
  const provider = createProvider({
    options,
    transport,
    apiHost: new URL(config.server).host,
    ca: config.ca,
    pool: poolOf(given.credentials, metrics.scalewayCall),
    settings,
    clock,
    random: Math.random,
    log,
    redactor,
    identity,
    metrics,
  });
  const result = await provider.run(signal);
  transport.close();
  if (result.ok) log.info('The manager has ended');
  else log.error('The manager has failed', { reason: result.reason });
  return result.ok ? exitCodes.done : exitCodes.failed;
};

const poolOf = (
  { accessKey, secretKey, projectID, apiURL }: Credentials,
  onCall: NonNullable<Parameters<typeof createHostPool>[0]['onCall']>,
) =>
  createHostPool({
    accessKey,
    secretKey: secretKey.reveal(),
    projectID,
    ...(apiURL !== undefined && { apiURL }),
    onCall,
  });
