import { readFile as readFileOf } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import type { ClusterConfig, ConfigContext } from './cluster-config.ts';
import { ConfigError, type ReadFile, readIfExists, readRequired } from './config-file.ts';
import { fromKubeconfig } from './from-kubeconfig.ts';
import { inClusterConfig, serviceAccountFolder } from './in-cluster.ts';
import { type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from './kubeconfig.ts';

export interface LoadOptions extends Omit<ConfigContext, 'readFile'> {
  /** The file system by default. */
  readFile?: ReadFile;
  /** Reads only this file. */
  kubeconfigPath?: string | undefined;
  /** Instead of the current context. Disables in-cluster configuration, as only kubeconfigs have contexts. */
  context?: string;
}

/**
 * Finds the cluster and the credentials. Rejects only with ConfigError.
 *
 * Flow: the first of `kubeconfigPath`, the files in KUBECONFIG, the in-cluster configuration, ~/.kube/config. A path given
 * explicitly must exist; the default locations may be missing.
 * Guarantees: everything used is validated and its files have been read once; an exec plugin is validated, not run.
 * Caveats: the certificate authority is read once. When the cluster's CA changes, the process must restart.
 */
export const loadConfig = async (options: LoadOptions): Promise<ClusterConfig> => {
  const { env, clock, kubeconfigPath, context, readFile = (path) => readFileOf(path, 'utf8') } = options;
  const ready = { env, clock, readFile };
  const named = kubeconfigPath === undefined ? await fromEnvironment(ready) : await read(ready, kubeconfigPath);
  if (named !== undefined) return fromKubeconfig(named, context, ready);
  const inCluster = context === undefined ? await inClusterConfig(ready) : undefined;
  if (inCluster !== undefined) return inCluster;
  const home = env['HOME'] ? join(env['HOME'], '.kube', 'config') : undefined;
  const text = home && (await readIfExists(readFile, home, { file: home, field: '' }));
  if (home !== undefined && text !== undefined)
    return fromKubeconfig(await parseKubeconfig(home, text), context, ready);
  throw new ConfigError(
    undefined,
    `No cluster is configured: KUBECONFIG is not set, there is no token at ${serviceAccountFolder}/token with KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT set, and there is no file ${home ?? '~/.kube/config (HOME is not set)'}. Set KUBECONFIG to a kubeconfig file.`,
  );
};

const read = async ({ readFile }: ConfigContext, path: string): Promise<Kubeconfig> => {
  const file = resolve(path);
  return parseKubeconfig(file, await readRequired(readFile, file, { file, field: '' }));
};

/** Skips missing files of the list, as kubectl does; at least one must exist. */
const fromEnvironment = async ({ env, readFile }: ConfigContext): Promise<Kubeconfig | undefined> => {
  const files = (env['KUBECONFIG'] ?? '')
    .split(delimiter)
    .filter((path) => path !== '')
    .map((path) => resolve(path));
  if (files.length === 0) return undefined;
  const found: Kubeconfig[] = [];
  for (const file of files) {
    const text = await readIfExists(readFile, file, { file, field: '' });
    if (text !== undefined) found.push(await parseKubeconfig(file, text));
  }
  if (found.length > 0) return mergeKubeconfigs(found);
  throw new ConfigError(
    { file: files.join(', '), field: '' },
    'no such file, but KUBECONFIG names it. Correct or unset KUBECONFIG.',
  );
};
