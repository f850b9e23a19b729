import { writeFileSync } from 'node:fs';
import {
  cataloguePath,
  dumpCatalogue,
  dumpProtobuf,
  dumpRoles,
  protobufPath,
  rolesPath,
  startControlPlane,
} from '@tartan/tools-kubernetes';

/** Starts a real API server and writes what it reports about the built-in kinds. */
export const dumpRealServer = async (say: (line: string) => void): Promise<void> => {
  const controlPlane = await startControlPlane();
  try {
    writeFileSync(cataloguePath, await dumpCatalogue(controlPlane));
    writeFileSync(rolesPath, await dumpRoles(controlPlane));
    writeFileSync(protobufPath, await dumpProtobuf());
    for (const path of [cataloguePath, rolesPath, protobufPath]) say(`wrote ${path}`);
  } finally {
    await controlPlane.stop();
  }
};
