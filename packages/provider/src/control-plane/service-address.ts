import { type CallOptions, type Client, services } from '@tartan/kube';

/**
 * Where whoever runs in the cluster finds the API server: the cluster IP of the Service `kubernetes`. It outlives every node of the
 * control plane, its certificate names it, and no proxy or DNS is in between (provider.md I-07). Needs: get of that Service.
 */
export const serviceAddress = async (client: Pick<Client, 'get'>, options: CallOptions = {}): Promise<string> => {
  const { spec } = await client.get(services, { namespace: 'default', name: 'kubernetes' }, options);
  const ip = spec?.clusterIP;
  if (!ip || ip === 'None')
    throw new Error('The Service default/kubernetes has no cluster IP. Set spec.server of the ExternalControlPlane.');
  const port = spec.ports?.find(({ name }) => name === 'https')?.port ?? 443;
  return `https://${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
};
