import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient, httpsTransport, namespaces } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { startControlPlane } from '@tartan/tools-kubernetes';
import { type ClaimCluster, runClaimSuite } from '../../packages/provider/src/claim/suite/run.ts';

const kinds = join(import.meta.dirname, '../../packages/api/crds');
const run = promisify(execFile);
const namespace = 'claims';

/** Not the shared one: MacHosts are cluster-scoped, and leftovers are deleted with it. */
const start = async (): Promise<ClaimCluster> => {
  const controlPlane = await startControlPlane();
  const {
    url,
    caCertificate: ca,
    clientCertificate: cert,
    clientKey: key,
    binaries,
    adminKubeconfigPath,
  } = controlPlane;
  const transport = httpsTransport({ server: url, ca, clock, credentials: () => ({ certificate: { cert, key } }) });
  const close = async (): Promise<void> => {
    transport.close();
    await controlPlane.stop();
  };
  try {
    const common = ['--kubeconfig', adminKubeconfigPath, '--cache-dir', join(controlPlane.dir, 'cache')];
    await run(binaries.kubectl, [...common, 'apply', '-f', kinds]);
    await run(binaries.kubectl, [...common, 'wait', '--for=condition=Established', '--timeout=300s', '-f', kinds]);
    const metadata = { name: namespace };
    await createClient(transport, { clock }).create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
    return { transport, namespace, close };
  } catch (error) {
    await close();
    throw error;
  }
};

runClaimSuite('claims on a real Kubernetes', start, { schedules: 40, firstSeed: 10_001 });
