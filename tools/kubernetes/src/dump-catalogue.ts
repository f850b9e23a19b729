import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getJson } from './api-request.ts';
import { formatCatalogue, readCatalogue } from './catalogue/catalogue.ts';
import { startControlPlane } from './control-plane.ts';
import type { Access } from './control-plane/kubeconfig.ts';

/** Where the embedded server finds its built-in kinds. */
export const cataloguePath = join(
  import.meta.dirname,
  '../../../sim/kubernetes/src/generated/kubernetes.generated.json',
);

/** The text of that file, as a running API server of the real Kubernetes dictates it. */
export const dumpCatalogue = async (access: Access): Promise<string> =>
  formatCatalogue(await readCatalogue(<T>(path: string) => getJson<T>(access, path)));

if (import.meta.main) {
  const controlPlane = await startControlPlane();
  try {
    writeFileSync(cataloguePath, await dumpCatalogue(controlPlane));
    process.stdout.write(`wrote ${cataloguePath}\n`);
  } finally {
    await controlPlane.stop();
  }
}
