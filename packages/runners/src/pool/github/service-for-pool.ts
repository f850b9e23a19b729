import type { RunnerPool } from '@tartan/api';
import {
  type CallReport,
  createRunnerService,
  type GitHubApp,
  ownerOf,
  readGitHubApp,
  type RunnerService,
  type RunnerServiceOptions,
} from '@tartan/github';
import { type Client, isKubeError, keyOf, type Live, type ObjectName, secrets } from '@tartan/kube';

export interface ServiceForPoolOptions extends Omit<RunnerServiceOptions, 'app' | 'owner' | 'onCall'> {
  readonly client: Pick<Client, 'get'>;
  /** For metrics. `app`: the Secret as whose App GitHub was asked. */
  readonly onCall?: (app: string, report: CallReport) => void;
}

/** With whose word GitHub is asked for a pool, or why it cannot be. */
export type ServiceForPool = (
  pool: Live<RunnerPool>,
  signal: AbortSignal,
) => Promise<RunnerService | { readonly problem: string }>;

/** So long a Secret is believed. One that is of no use is looked at again sooner: somebody may be mending it. */
const secretTTLMs = 60_000;
const invalidSecretTTLMs = 10_000;

type App = { readonly version: string; readonly app: GitHubApp } | { readonly problem: string };

/**
 * From the Secret that a pool names to its GitHub. Secrets are read from the server and nothing of them is kept but the App itself: a cache
 * of all Secrets would hold much that is nobody's business here.
 */
export const createServiceForPool = ({ client, onCall, ...options }: ServiceForPoolOptions): ServiceForPool => {
  const { clock } = options;
  const apps = new Map<string, { until: number; readonly found: Promise<App> }>();
  const services = new Map<string, { readonly version: string; readonly service: RunnerService }>();

  const appOf = async (name: ObjectName, signal: AbortSignal): Promise<App> => {
    const key = keyOf(name);
    const known = apps.get(key);
    if (known !== undefined && clock.now() < known.until) return known.found;
    // Whoever asks meanwhile waits for the same answer. A failure is nobody's answer but the first one's.
    const look = { until: clock.now() + secretTTLMs, found: readApp(client, name, signal) };
    apps.set(key, look);
    try {
      const found = await look.found;
      if ('problem' in found) look.until = clock.now() + invalidSecretTTLMs;
      return found;
    } catch (error) {
      if (apps.get(key) === look) apps.delete(key);
      throw error;
    }
  };

  return async ({ metadata: { namespace = '' }, spec: { github } }, signal) => {
    if (github === undefined) return { problem: 'spec.github is not set.' };
    const owner = ownerOf(github);
    if ('problem' in owner) return owner;
    const secret = { namespace, name: github.appSecretName };
    const found = await appOf(secret, signal);
    if ('problem' in found) return found;
    const key = JSON.stringify([secret, owner]);
    const known = services.get(key);
    if (known?.version === found.version) return known.service;
    const service = createRunnerService({
      ...options,
      ...(onCall && { onCall: (report: CallReport) => onCall(secret.name, report) }),
      app: found.app,
      owner,
    });
    services.set(key, { version: found.version, service });
    return service;
  };
};

const readApp = async (client: Pick<Client, 'get'>, name: ObjectName, signal: AbortSignal): Promise<App> => {
  try {
    const { data, metadata } = await client.get(secrets, name, { signal });
    const app = readGitHubApp(data);
    return 'problem' in app ? app : { app, version: `${metadata.uid}/${metadata.resourceVersion}` };
  } catch (error) {
    if (isKubeError(error, 'notFound'))
      return { problem: `There is no Secret ${name.name}. Make it, or name another one in spec.github.appSecretName.` };
    if (isKubeError(error, 'forbidden'))
      return { problem: `The Secret ${name.name} may not be read. Give the controller the right to.` };
    throw error;
  }
};
