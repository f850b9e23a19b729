import { dirname, resolve } from 'node:path';
import * as z from 'zod/mini';
import { parseJson } from '../json.ts';
import type { ConfigContext, Credentials } from './cluster-config.ts';
import { ConfigError, type ConfigLocation, fieldOf } from './config-file.ts';
import { bearerToken, cached, type CredentialSource } from './credentials.ts';
import type { ExecEntry } from './kubeconfig.ts';
import { checkKeyPair } from './pem.ts';
import type { CommandResult } from './run-command.ts';

const supportedApiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/** A cloud's command may have to call the cloud's API. */
const deadlineMs = 30_000;

/**
 * Credentials from a command. The entry is validated here; the command runs when credentials are first needed, and again when
 * they have expired or were invalidated.
 */
export const execPlugin = (
  entry: ExecEntry,
  location: ConfigLocation,
  cluster: object,
  { env, clock }: ConfigContext,
): CredentialSource => {
  const { apiVersion, command } = checkExec(entry, location);
  return cached(async () => {
    const spec = { interactive: false, ...(entry.provideClusterInfo ? { cluster } : {}) };
    // Imported on demand: few clusters need a plugin.
    const { runCommand } = await import('./run-command.ts');
    const result = await runCommand(clock, {
      file: command,
      args: entry.args,
      env: {
        ...env,
        ...Object.fromEntries(entry.env.map(({ name, value }) => [name, value])),
        KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: 'ExecCredential', spec }),
      },
      deadlineMs,
    });
    const output = outputOf(location, command, entry.installHint, result);
    const { credentials, expiresAt } = parseExecCredential(location, apiVersion, output);
    return { credentials, isFresh: () => expiresAt === undefined || clock.now() < expiresAt };
  });
};

const checkExec = ({ apiVersion, command, interactiveMode }: ExecEntry, location: ConfigLocation) => {
  if (command === undefined) throw new ConfigError(fieldOf(location, 'command'), 'is missing.');
  if (apiVersion === undefined || !supportedApiVersions.includes(apiVersion))
    throw new ConfigError(
      fieldOf(location, 'apiVersion'),
      `must be one of ${supportedApiVersions.join(', ')}. Update the plugin.`,
    );
  const mode = interactiveMode ?? (apiVersion.endsWith('/v1beta1') ? 'IfAvailable' : undefined);
  if (mode === 'Always')
    throw new ConfigError(
      fieldOf(location, 'interactiveMode'),
      'is Always, but this process has nobody to ask. Use credentials that need no input.',
    );
  if (mode !== 'Never' && mode !== 'IfAvailable')
    throw new ConfigError(fieldOf(location, 'interactiveMode'), 'must be Never, IfAvailable or Always.');
  // A bare name is looked up in PATH; a name with a slash is a path.
  return { apiVersion, command: command.includes('/') ? resolve(dirname(location.file), command) : command };
};

/** Errors do not contain the arguments: they may hold a secret. */
const outputOf = (
  location: ConfigLocation,
  command: string,
  installHint: string | undefined,
  result: CommandResult,
): string => {
  const fail = (what: string): ConfigError => new ConfigError(location, `the command "${command}" ${what}`);
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

const textNamed = (name: string) =>
  z.pipe(
    z.nullish(z.string(`with a ${name} that is not text`)),
    z.transform((value) => value || undefined),
  );

/** Date.parse accepts far more than RFC 3339. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** The messages complete "the command answered …". */
const execCredential = (apiVersion: string) =>
  z.object(
    {
      kind: z.literal('ExecCredential', 'an object whose kind is not ExecCredential'),
      apiVersion: z.literal(apiVersion, `with another apiVersion than the ${apiVersion} that the kubeconfig asks for`),
      status: z
        .object(
          {
            token: textNamed('token'),
            clientCertificateData: textNamed('clientCertificateData'),
            clientKeyData: textNamed('clientKeyData'),
            expirationTimestamp: textNamed('expirationTimestamp').check(
              z.refine(
                (time) => time === undefined || (rfc3339.test(time) && !Number.isNaN(Date.parse(time))),
                'with an expirationTimestamp that is not an RFC 3339 time',
              ),
            ),
          },
          'without a status',
        )
        .check(
          z.refine(
            ({ clientCertificateData: cert, clientKeyData: key }) => (cert === undefined) === (key === undefined),
            'with one of clientCertificateData and clientKeyData, but not both',
          ),
          z.refine(
            ({ token, clientCertificateData: cert }) => token !== undefined || cert !== undefined,
            'with neither a token nor a client certificate',
          ),
        ),
    },
    'something that is not a JSON object',
  );

interface ExecCredential {
  credentials: Credentials;
  /** Wall clock; undefined when it is valid until the server rejects it. */
  expiresAt: number | undefined;
}

/** Parses a plugin's output. No error contains any of it. */
const parseExecCredential = (location: ConfigLocation, apiVersion: string, output: string): ExecCredential => {
  const parsed = execCredential(apiVersion).safeParse(parseJson(output));
  if (!parsed.success)
    throw new ConfigError(
      location,
      `the command answered ${parsed.error.issues[0]?.message}. Run it by hand to see what it prints; update it if it is old.`,
    );
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = parsed.data.status;
  return {
    credentials: {
      ...(token && bearerToken(location, token)),
      ...(cert && key && { certificate: checkKeyPair({ cert, key }, { cert: location, key: location }) }),
    },
    expiresAt: expirationTimestamp === undefined ? undefined : Date.parse(expirationTimestamp),
  };
};
