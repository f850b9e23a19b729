import type { Clock } from '../clock/clock.ts';
import { cached } from './cached.ts';
import { ConfigError, type Place } from './config-error.ts';
import type { CredentialSource } from './credential-source.ts';
import { type ExecCredential, parseExecCredential } from './exec-credential.ts';
import type { ExecEntry } from './kubeconfig.ts';
import type { CommandResult } from './run-command.ts';

/** What a plugin learns of the cluster if the kubeconfig lets it (provideClusterInfo). */
export interface ExecCluster {
  server: string;
  'tls-server-name'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'certificate-authority-data'?: string;
  config?: unknown;
}

export interface ExecOptions {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  cluster: ExecCluster;
  /** A cloud's command may have to ask the cloud; half a minute is plenty. */
  deadlineMs?: number;
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/**
 * A command that prints credentials. Checked here, run when credentials are first asked for and again when they have expired
 * or were dropped.
 */
export const execPlugin = (entry: ExecEntry, options: ExecOptions): CredentialSource => {
  const { fields, args } = entry;
  const { apiVersion, command } = checkExec(entry);
  const { clock, deadlineMs = 30_000 } = options;
  const place = fields.place;
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
  return { get: async () => (await run.get()).credentials, drop: run.drop };
};

const checkExec = ({ fields, apiVersion, command, interactiveMode }: ExecEntry) => {
  if (command === undefined) throw new ConfigError(fields.placeOf('command'), 'is missing.');
  if (apiVersion === undefined || !versions.includes(apiVersion))
    throw new ConfigError(fields.placeOf('apiVersion'), `must be one of ${versions.join(', ')}. Update the plugin.`);
  const mode = interactiveMode ?? (apiVersion.endsWith('/v1beta1') ? 'IfAvailable' : undefined);
  if (mode === 'Always')
    throw new ConfigError(
      fields.placeOf('interactiveMode'),
      'is Always, but this process has nobody to ask. Use credentials that need no input.',
    );
  if (mode !== 'Never' && mode !== 'IfAvailable')
    throw new ConfigError(fields.placeOf('interactiveMode'), 'must be Never, IfAvailable or Always.');
  return { apiVersion, command };
};

const environmentOf = (
  { env: own, provideClusterInfo }: ExecEntry,
  apiVersion: string,
  { env, cluster }: ExecOptions,
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
  place: Place,
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
    case 'talkedTooMuch':
      throw fail('printed more than 1 MiB and was stopped. It must print one ExecCredential.');
  }
};
