import { execFile } from 'node:child_process';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { guestNames } from '@tartan/api';
import { agentText } from '@tartan/sim-fleet';
import type { Image } from '@tartan/sim-linux-node';
import { standInSoftware } from '@tartan/sim-mac';
import { assembleImage } from '@tartan/tools-build';

export const repository = 'registry.example/tartan';

export interface Images {
  /** By their references, for Nodes to unpack. */
  readonly known: ReadonlyMap<string, Image>;
  /** Another image, like the next build: the same except for the agent and, if given, its runtime. Returns its tag. */
  release(version: string, runtime?: string): Promise<string>;
  /** An image with built programs, as `npm run build` writes them to `dist/`; by default those of this checkout. */
  put(tag: string, programs?: string): Promise<void>;
}

const nonRoot = 65_532;

const { shares, log, result } = guestNames;

/** The program of the guests of simulated Macs: a job that counts its steps in the log of its Pod until the host creates a file. */
const guest = `status='Volumes/My Shared Files/${shares.status}'
step=0
while [ ! -f done ]; do
  step=$((step + 1))
  echo "Step $step" >>"$status/${log}"
  sleep 5
done
echo "Done after step $step" >>"$status/${log}"
echo 0 >"$status/${result}"
shutdown -h now
`;

/** The provider's image, unpacked, with stand-ins for the third-party software of Macs. */
export const createImages = async (folder: string): Promise<Images> => {
  const known = new Map<string, Image>();
  const first = join(folder, 'base');
  const software = await standInSoftware(join(folder, 'software'), { guest });
  await assembleImage({
    folder: first,
    artifacts: {
      node: software.node.file,
      tart: software.tart.file,
      tailscale: software.tailscale.file,
      node_exporter: software.nodeExporter.file,
      'actions-runner': software.actionsRunner.file,
      packer: software.packer.file,
      crane: software.crane.file,
      oras: software.oras.file,
    },
  });
  const copy = promisify(execFile);
  return {
    known,
    release: async (version, runtime) => {
      const image = join(folder, version);
      // Hard links, not copies: images share equal files.
      await copy('cp', ['-al', first, image]);
      const replace = async (file: string, text: string): Promise<void> => {
        await rm(join(image, file));
        await writeFile(join(image, file), text, { mode: 0o755 });
      };
      await replace('opt/tart-kubelet/tart-kubelet.mjs', await agentText(version));
      if (runtime !== undefined) await replace('opt/tart-kubelet/node', runtime);
      known.set(`${repository}:${version}`, { folder: image, user: nonRoot });
      return version;
    },
    put: async (tag, programs) => {
      const image = join(folder, tag);
      await copy('cp', ['-al', first, image]);
      if (programs !== undefined) {
        await rm(join(image, 'opt/tartan'), { recursive: true });
        await rm(join(image, 'opt/tart-kubelet/tart-kubelet.mjs'));
        await cp(join(programs, 'manager'), join(image, 'opt/tartan'), { recursive: true });
        await cp(join(programs, 'runners.mjs'), join(image, 'opt/tartan/runners.mjs'));
        await cp(join(programs, 'tart-kubelet.mjs'), join(image, 'opt/tart-kubelet/tart-kubelet.mjs'));
      }
      known.set(`${repository}:${tag}`, { folder: image, user: nonRoot });
    },
  };
};
