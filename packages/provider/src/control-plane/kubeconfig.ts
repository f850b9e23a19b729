import { z } from 'zod';

/** Where the API server is, and by what authority it is known. */
export interface Target {
  /** `https://host:port`, without a slash at its end. */
  readonly server: string;
  /** PEM in base64. */
  readonly caData: string;
}

/** A secret as a whole. JSON is YAML, and there is nothing in it to quote wrongly. No plugins: core takes none. */
export const renderKubeconfig = ({ server, caData }: Target, token: string): string => {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: { server, 'certificate-authority-data': caData } }],
    users: [{ name: 'core', user: { token } }],
    contexts: [{ name: 'core', context: { cluster: 'cluster', user: 'core' } }],
    'current-context': 'core',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
};

const shape = z.object({
  clusters: z.tuple([
    z.object({ cluster: z.object({ server: z.string(), 'certificate-authority-data': z.string() }) }),
  ]),
});

/** The target of a kubeconfig that we wrote; undefined for anything else. */
export const targetIn = (kubeconfig: string): Target | undefined => {
  try {
    const { cluster } = shape.parse(JSON.parse(kubeconfig)).clusters[0];
    return { server: cluster.server, caData: cluster['certificate-authority-data'] };
  } catch {
    return undefined;
  }
};
