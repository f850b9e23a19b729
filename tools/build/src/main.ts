import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { checkout } from './bundle.ts';
import {
  buildAgent,
  buildInstaller,
  buildManager,
  buildRunners,
  buildTartan,
  buildUninstallCheck,
} from './programs.ts';

/** `npm run build`: builds everything that ships into an empty `dist/`. */

const dist = join(checkout, 'dist');
await rm(dist, { recursive: true, force: true });
const built = await Promise.all([
  buildAgent(dist),
  buildManager(join(dist, 'manager')),
  buildInstaller(join(dist, 'manager')),
  buildUninstallCheck(join(dist, 'manager')),
  buildRunners(dist),
  buildTartan(join(dist, 'tartan')),
]);
for (const file of built) process.stdout.write(`${relative(checkout, file)}\n`);
