import { basename, dirname } from 'node:path';
import { apiRequest } from '../api-request.ts';
import type { ComponentSpec } from '../control-plane/component.ts';
import type { ControlPlane } from '../control-plane.ts';

/** Core's manager. Its webhooks show the certificate that all servers of the control plane show. */
export const coreManager = (
  binary: string,
  kubeconfig: string,
  { files, caCertificate }: Pick<ControlPlane, 'files' | 'caCertificate'>,
): ComponentSpec => ({
  name: 'cluster-api',
  binary,
  portCount: 3,
  args: ([webhook, health, diagnostics]) => [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    `--webhook-port=${webhook}`,
    `--webhook-cert-dir=${dirname(files.serverCertificate)}`,
    `--webhook-cert-name=${basename(files.serverCertificate)}`,
    `--webhook-key-name=${basename(files.serverKey)}`,
    `--health-addr=127.0.0.1:${health}`,
    `--diagnostics-address=127.0.0.1:${diagnostics}`,
    '--insecure-diagnostics',
  ],
  isReady: async ([webhook, health], signal) => {
    // Anybody might answer on the port for health; on the other one only who has our certificate.
    await apiRequest({ url: `https://127.0.0.1:${webhook}`, caCertificate }, '/', { signal });
    return (await fetch(`http://127.0.0.1:${health}/readyz`, { signal })).status === 200;
  },
});
