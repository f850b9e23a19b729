import { type ManagerProgram, type ProcessContext, runManagerProgram } from '@tartan/kube';
import { createHostPool, type HostPool } from '@tartan/scaleway';
import { collectDefaultMetrics } from 'prom-client';
import packageFile from '../../package.json' with { type: 'json' };
import { type Credentials, parseCredentials } from '../flags/parse-credentials.ts';
import { parseFlags } from '../flags/parse-flags.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import { loadHostSettings } from '../host-work/host-settings.ts';
import { createProvider, type ProviderDeps } from './create-provider.ts';
import { createProviderMetrics } from './provider-metrics.ts';

/** Hosts that are reached in another way than over SSH. */
interface Hosts extends Required<Pick<ProviderDeps, 'hostWork'>> {
  poolOf(pool: HostPool): HostPool;
}

const createProgram = (
  hosts: Hosts | undefined,
): ManagerProgram<ProviderOptions & { readonly credentials: Credentials }> => ({
  title: 'The manager',
  version: packageFile.version,
  parse: (argv, env) => {
    const flags = parseFlags(argv, env);
    if ('help' in flags) return flags;
    const parsed = parseCredentials(env);
    if ('errors' in flags || 'errors' in parsed)
      return { errors: [flags, parsed].flatMap((each) => ('errors' in each ? each.errors : [])) };
    return { options: { ...flags.options, ...parsed } };
  },
  create: async (deps, { ca }) => {
    const { accessKey, secretKey, projectID, apiURL } = deps.options.credentials;
    deps.redactor.add(secretKey.reveal());
    const metrics = createProviderMetrics({ clock: deps.clock });
    collectDefaultMetrics({ register: metrics.registry });
    const pool = createHostPool({
      accessKey,
      secretKey: secretKey.reveal(),
      projectID,
      apiURL,
      onCall: metrics.scalewayCall,
      onWait: metrics.scalewayWait,
    });
    return createProvider({
      ...deps,
      ca,
      pool: hosts?.poolOf(pool) ?? pool,
      settings: await loadHostSettings(deps.options),
      ...(hosts && { hostWork: hosts.hostWork }),
      metrics,
    });
  },
});

/** The manager as a program. `hosts` is for simulations. */
export const runManager = (argv: readonly string[], context: ProcessContext, hosts?: Hosts): Promise<number> =>
  runManagerProgram(createProgram(hosts), argv, context);
