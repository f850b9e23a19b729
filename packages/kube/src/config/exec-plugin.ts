import type { Clock } from '../clock/clock.ts';
import { isRecord, parseJson } from '../json.ts';
import type { Credentials } from './cluster-config.ts';
import { ConfigError, type ConfigLocation } from './config-file.ts';
import { bearerToken, cached, type CredentialSource } from './credentials.ts';
import type { ExecEntry } from './kubeconfig.ts';
import { checkKeyPair } from './pem.ts';
import type { CommandResult } from './run-command.ts';

/** What a plugin learns of the cluster if the kubeconfig lets it (provideClusterInfo). */
export interface ExecCluster {
  server: string;
  'tls-server-name'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'certificate-authority-data'?: string;
  config?: unknown;
}

interface ExecPluginOptions {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  cluster: ExecCluster;
  /** A cloud's command may have to ask the cloud; half a minute is plenty. */
  deadlineMs?: number;
}

const supportedApiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/**
 * A command that prints credentials. Checked here, run when credentials are first asked for and again when they have expired
 * or were dropped.
 */
export const execPlugin = (entry: ExecEntry, options: ExecPluginOptions): CredentialSource => {
  const { fields, args } = entry;
  const { apiVersion, command } = checkExec(entry);
  const { clock, deadlineMs = 30_000 } = options;
  const place = fields.location;
  const run = cached<ExecCredential>({
    load: async () => {
      const env = environmentOf(entry, apiVersion, options);
      // Few clusters need a plugin; the others go without what runs it.
      const { runCommand } = await import('./run-command.ts');
      const result = await runCommand(clock, { file: command, args, env, deadlineMs });
      return parseExecCredential(place, apiVersion, outputOf(place, command, entry.installHint, deadlineMs, result));
    },
    isFresh: ({ expiresAt }) => expiresAt === undefined || clock.now() < expiresAt,
    now: () => clock.now(),
  });
  return { get: async () => (await run.get()).credentials, invalidate: run.invalidate };
};

const checkExec = ({ fields, apiVersion, command, interactiveMode }: ExecEntry) => {
  if (command === undefined) throw new ConfigError(fields.locationOf('command'), 'is missing.');
  if (apiVersion === undefined || !supportedApiVersions.includes(apiVersion))
    throw new ConfigError(
      fields.locationOf('apiVersion'),
      `must be one of ${supportedApiVersions.join(', ')}. Update the plugin.`,
    );
  const mode = interactiveMode ?? (apiVersion.endsWith('/v1beta1') ? 'IfAvailable' : undefined);
  if (mode === 'Always')
    throw new ConfigError(
      fields.locationOf('interactiveMode'),
      'is Always, but this process has nobody to ask. Use credentials that need no input.',
    );
  if (mode !== 'Never' && mode !== 'IfAvailable')
    throw new ConfigError(fields.locationOf('interactiveMode'), 'must be Never, IfAvailable or Always.');
  return { apiVersion, command };
};

const environmentOf = (
  { env: own, provideClusterInfo }: ExecEntry,
  apiVersion: string,
  { env, cluster }: ExecPluginOptions,
): Record<string, string> => {
  const inherited = Object.entries(env).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const spec = { interactive: false, ...(provideClusterInfo ? { cluster } : {}) };
  return {
    ...Object.fromEntries(inherited),
    ...Object.fromEntries(own.map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: 'ExecCredential', spec }),
  };
};

/** Arguments are not named: they may hold a secret. */
const outputOf = (
  place: ConfigLocation,
  command: string,
  installHint: string | undefined,
  deadlineMs: number,
  result: CommandResult,
): string => {
  const fail = (what: string): ConfigError => new ConfigError(place, `the command "${command}" ${what}`);
  const byHand = 'Run it by hand, with the same arguments, to see why.';
  switch (result.kind) {
    case 'exited':
      if (result.code === 0) return result.output;
      throw fail(`failed with exit code ${result.code}. ${byHand}`);
    case 'notStarted':
      if (result.code === 'ENOENT')
        throw fail(`is not installed. ${installHint ?? 'Install it, or add its folder to PATH.'}`);
      if (result.code === 'EACCES') throw fail('is not executable. Allow it with chmod +x.');
      throw fail(`could not be started: ${result.code}.`);
    case 'killed':
      throw fail(`was ended by ${result.by}. ${byHand}`);
    case 'timedOut':
      throw fail(`did not answer within ${Math.round(deadlineMs / 1000)} s and was stopped. ${byHand}`);
    case 'outputTooLarge':
      throw fail('printed more than 1 MiB and was stopped. It must print one ExecCredential.');
  }
};

interface ExecCredential {
  credentials: Credentials;
  /** By the wall clock; undefined when it lasts until the server refuses it. */
  expiresAt: number | undefined;
}

/** What a plugin printed. Nothing of it gets into an error. */
const parseExecCredential = (place: ConfigLocation, apiVersion: string, output: string): ExecCredential => {
  const bad = (what: string): ConfigError =>
    new ConfigError(
      place,
      `the command answered ${what}. Run it by hand to see what it prints; update it if it is old.`,
    );
  const answer = parseJson(output);
  if (!isRecord(answer)) throw bad('something that is not a JSON object');
  if (answer['kind'] !== 'ExecCredential') throw bad('an object whose kind is not ExecCredential');
  if (answer['apiVersion'] !== apiVersion)
    throw bad(`with another apiVersion than the ${apiVersion} that the kubeconfig asks for`);
  const status = answer['status'];
  if (!isRecord(status)) throw bad('without a status');
  const text = (name: string): string | undefined => {
    const value = status[name] ?? '';
    if (typeof value !== 'string') throw bad(`with a ${name} that is not text`);
    return value === '' ? undefined : value;
  };
  const [token, cert, key] = [text('token'), text('clientCertificateData'), text('clientKeyData')];
  if ((cert === undefined) !== (key === undefined))
    throw bad('with one of clientCertificateData and clientKeyData, but not both');
  if (token === undefined && cert === undefined) throw bad('with neither a token nor a client certificate');
  const expiry = text('expirationTimestamp');
  const expiresAt = expiry === undefined ? undefined : parseRfc3339(expiry);
  if (Number.isNaN(expiresAt)) throw bad('with an expirationTimestamp that is not an RFC 3339 time');
  return {
    credentials: {
      ...(token === undefined ? {} : bearerToken(place, token)),
      ...(cert === undefined || key === undefined
        ? {}
        : { certificate: checkKeyPair({ cert, key }, { cert: place, key: place }) }),
    },
    expiresAt,
  };
};

/** Date.parse takes far more than RFC 3339. */
const parseRfc3339 = (text: string): number =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
