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

/** Starts a real API server and writes down what it says about the built-in kinds. */
export const dumpRealServer = async (say: (line: string) => void): Promise<void> => {
  const controlPlane = await startControlPlane();
  try {
    writeFileSync(cataloguePath, await dumpCatalogue(controlPlane));
    say(`wrote ${cataloguePath}`);
    writeFileSync(rolesPath, await dumpRoles(controlPlane));
    say(`wrote ${rolesPath}`);
    await dumpProtobuf();
    say(`wrote ${protobufPath}`);
  } finally {
    await controlPlane.stop();
  }
};
