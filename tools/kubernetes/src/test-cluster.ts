import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from './build.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { issueClientCertificate } from './control-plane/certificates.ts';
import { type Access, readKubeconfig } from './control-plane/kubeconfig.ts';

/** By these the runner tells test files what they share: always a kubeconfig, and a description of the control plane if it is ours. */
const kubeconfigVariable = 'TARTAN_TEST_KUBECONFIG';
const controlPlaneVariable = 'TARTAN_TEST_CONTROL_PLANE';

/** A cluster of which a test knows only that it is a Kubernetes API server. */
export interface TestCluster extends Access {
  adminKubeconfigPath: string;
  kubectl: string;
  stop(): Promise<void>;
}

type SharedControlPlane = Pick<ControlPlane, 'url' | 'adminKubeconfigPath' | 'dir' | 'files' | 'binaries'>;

/** The environment that lets test files find `controlPlane`. Keys stay in files. */
export const shareControlPlane = (controlPlane: ControlPlane): Record<string, string> => {
  const { url, adminKubeconfigPath, dir, files, binaries } = controlPlane;
  const path = join(dir, 'shared.json');
  writeFileSync(path, JSON.stringify({ url, adminKubeconfigPath, dir, files, binaries } satisfies SharedControlPlane), {
    mode: 0o600,
  });
  return { [controlPlaneVariable]: path, [kubeconfigVariable]: adminKubeconfigPath };
};

export const shareExistingCluster = (kubeconfig: string): Record<string, string> => ({
  [kubeconfigVariable]: kubeconfig,
});

/**
 * The control plane of this test run, with controller manager and scheduler; `stop` leaves it running for the others. A test file
 * that runs by itself, or beside an existing cluster, gets one of its own. Tests that share it keep to namespaces of their own.
 */
export const testControlPlane = async (env: NodeJS.ProcessEnv = process.env): Promise<ControlPlane> => {
  const path = env[controlPlaneVariable];
  if (path === undefined) return await startControlPlane({ controllerManager: true, scheduler: true });
  const described: SharedControlPlane = JSON.parse(readFileSync(path, 'utf8'));
  const { caCertificate, clientCertificate = '', clientKey = '' } = readKubeconfig(described.adminKubeconfigPath);
  const authority = { certificate: caCertificate, key: readFileSync(described.files.caKey, 'utf8') };
  return {
    ...described,
    caCertificate,
    clientCertificate,
    clientKey,
    issue: (subject) => issueClientCertificate(authority, subject),
    stop: async () => {},
  };
};

/** The cluster that the person who runs the tests has given, or else the control plane of this test run. */
export const testCluster = async (env: NodeJS.ProcessEnv = process.env): Promise<TestCluster> => {
  const kubeconfig = env[kubeconfigVariable];
  if (kubeconfig !== undefined) {
    const { kubectl } = await ensureBinaries(['kubectl']);
    return { ...readKubeconfig(kubeconfig), adminKubeconfigPath: kubeconfig, kubectl, stop: async () => {} };
  }
  const controlPlane = await testControlPlane(env);
  return { ...controlPlane, kubectl: controlPlane.binaries.kubectl };
};
