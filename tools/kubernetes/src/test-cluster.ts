import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { issueClientCertificate } from './control-plane/certificates.ts';

/** Names the file that describes the control plane of a test run. */
const controlPlaneVariable = 'TARTAN_TEST_CONTROL_PLANE';

type SharedControlPlane = Omit<ControlPlane, 'issue' | 'stop'>;

/** The environment with which test files find `controlPlane`. Keys stay in files. */
export const shareControlPlane = (controlPlane: ControlPlane): Record<string, string> => {
  const path = join(controlPlane.dir, 'shared.json');
  writeFileSync(path, JSON.stringify(controlPlane), { mode: 0o600 });
  return { [controlPlaneVariable]: path };
};

/**
 * The control plane of this test run, with controller manager and scheduler; `stop` leaves it running for the other files. A test file
 * that runs alone starts its own. Tests that share it use their own namespaces.
 */
export const testControlPlane = async (): Promise<ControlPlane> => {
  const path = process.env[controlPlaneVariable];
  if (path === undefined) return await startControlPlane({ controllerManager: true, scheduler: true });
  const shared: SharedControlPlane = JSON.parse(readFileSync(path, 'utf8'));
  const authority = { certificate: shared.caCertificate, key: readFileSync(shared.files.caKey, 'utf8') };
  return { ...shared, issue: (subject) => issueClientCertificate(authority, subject), stop: async () => {} };
};
