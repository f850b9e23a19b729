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
import { createScalewayKey, readCredentialFiles } from './scaleway-key.ts';

/** Hosts that are reached in another way than over SSH. */
interface Hosts extends Required<Pick<ProviderDeps, 'hostWork'>> {
  poolOf(pool: HostPool): HostPool;
}

interface ProgramOptions extends ProviderOptions {
  readonly credentials: Credentials;
  readonly readCredentials: () => ReturnType<typeof parseCredentials>;
}

const createProgram = (hosts: Hosts | undefined): ManagerProgram<ProgramOptions> => ({
  title: 'The manager',
  version: packageFile.version,
  parse: (argv, env) => {
    const flags = parseFlags(argv, env);
    if ('help' in flags) return flags;
    const folder = 'options' in flags ? flags.options.scalewayCredentialsPath : undefined;
    const readCredentials = () => parseCredentials({ ...env, ...readCredentialFiles(folder) });
    const parsed = readCredentials();
    if ('errors' in flags || 'errors' in parsed)
      return { errors: [flags, parsed].flatMap((each) => ('errors' in each ? each.errors : [])) };
    return { options: { ...flags.options, ...parsed, readCredentials } };
  },
  create: async (deps, { ca }) => {
    const { credentials, readCredentials } = deps.options;
    const { accessKey, projectID, apiURL } = credentials;
    const metrics = createProviderMetrics({ clock: deps.clock });
    collectDefaultMetrics({ register: metrics.registry });
    const pool = createHostPool({
      accessKey,
      secretKey: createScalewayKey({ ...deps, credentials, readCredentials }),
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
