import { type Client, createClient, httpsTransport, loadConfig, type Transport } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';

/** As the user of this kubeconfig. */
export const connect = async (
  kubeconfigPath: string,
): Promise<{ url: string; ca: string | undefined; client: Client; transport: Transport }> => {
  const config = await loadConfig({ env: {}, clock, kubeconfigPath });
  const transport = httpsTransport({ ...config, clock });
  return { url: config.server, ca: config.ca, client: createClient(transport, { clock }), transport };
};
