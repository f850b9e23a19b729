import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fakeTart } from '../tart/fake-tart.ts';
import { actionsRunner } from './actions-runner.ts';
import * as texts from './programs.ts';
import { nodeRuntime } from './programs.ts';
import { gzippedTar } from './tar.ts';

/** A file that replaces third-party software. */
export interface StandIn {
  /** `tart 2.32.1`. */
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  readonly file: string;
}

export interface StandInSoftware {
  /** A gzipped tar of `tart.app`. */
  readonly tart: StandIn;
  /** A gzipped tar of `tailscale` and `tailscaled`. */
  readonly tailscale: StandIn;
  readonly nodeExporter: StandIn;
  readonly node: StandIn;
  /** A gzipped tar, like GitHub's download. */
  readonly actionsRunner: StandIn;
  readonly packer: StandIn;
  readonly crane: StandIn;
  readonly oras: StandIn;
}

const versions = {
  a: {
    tart: '2.32.1',
    tailscale: '1.96.5',
    nodeExporter: '1.8.2',
    node: '26.10.0',
    actionsRunner: '2.330.0',
    packer: '1.14.2',
    crane: '0.20.6',
    oras: '1.3.0',
  },
  b: {
    tart: '2.33.0',
    tailscale: '1.98.1',
    nodeExporter: '1.9.1',
    node: '26.11.0',
    actionsRunner: '2.331.0',
    packer: '1.14.3',
    crane: '0.20.7',
    oras: '1.3.1',
  },
} as const;

const infoPlist = (version: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>CFBundleExecutable</key>
	<string>tart</string>
	<key>CFBundleIdentifier</key>
	<string>com.github.cirruslabs.tart</string>
	<key>CFBundleShortVersionString</key>
	<string>${version}</string>
</dict>
</plist>
`;

const codeResources = `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>files</key><dict/></dict></plist>
`;

/** A file that is named by its content. An existing one is left alone, since a manager that is pushing it would notice the change. */
export const writeByContent = async (folder: string, name: string, content: string | Buffer): Promise<StandIn> => {
  const sha256 = createHash('sha256').update(content).digest('hex');
  const file = join(folder, `${name.replaceAll(' ', '-')}-${sha256.slice(0, 8)}`);
  if (!existsSync(file)) {
    const unfinished = `${file}.${randomUUID()}`;
    await mkdir(folder, { recursive: true });
    await writeFile(unfinished, content, { mode: 0o755 });
    await rename(unfinished, file);
  }
  return { name, sha256, size: Buffer.byteLength(content), file };
};

/**
 * Stand-ins for third-party software, as it is pushed to hosts: small shell scripts, reproducible byte by byte. `variant: 'b'` is the next
 * version of each. `node` is the real one of this machine, so that an agent really runs. `guest` is the program of every guest of that
 * tart, like `GuestControls.program` for one.
 */
export const standInSoftware = async (
  folder: string,
  { variant = 'a', guest }: { readonly variant?: 'a' | 'b'; readonly guest?: string } = {},
): Promise<StandInSoftware> => {
  const version = versions[variant];
  const put = (name: string, content: string | Buffer): Promise<StandIn> => writeByContent(folder, name, content);
  const bundle = gzippedTar([
    { path: 'tart.app/Contents/MacOS/tart', mode: 0o755, text: fakeTart(version.tart) },
    { path: 'tart.app/Contents/Info.plist', mode: 0o644, text: infoPlist(version.tart) },
    ...(guest === undefined ? [] : [{ path: 'tart.app/Contents/Resources/guest.sh', mode: 0o644, text: guest }]),
    { path: 'tart.app/Contents/_CodeSignature/CodeResources', mode: 0o644, text: codeResources },
  ]);
  const tailscale = gzippedTar([
    { path: 'tailscale', mode: 0o755, text: texts.tailscale(version.tailscale) },
    { path: 'tailscaled', mode: 0o755, text: texts.tailscaled(version.tailscale) },
  ]);
  return {
    tart: await put(`tart ${version.tart}`, bundle),
    tailscale: await put(`tailscale ${version.tailscale}`, tailscale),
    nodeExporter: await put(`node_exporter ${version.nodeExporter}`, texts.nodeExporter(version.nodeExporter)),
    node: await put(`node ${version.node}`, nodeRuntime(version.node, process.execPath)),
    actionsRunner: await put(
      `actions-runner ${version.actionsRunner}`,
      gzippedTar(actionsRunner(version.actionsRunner)),
    ),
    packer: await put(`packer ${version.packer}`, texts.packer(version.packer)),
    crane: await put(`crane ${version.crane}`, texts.printsVersion('crane', version.crane)),
    oras: await put(`oras ${version.oras}`, texts.printsVersion('oras', `Version:        ${version.oras}`)),
  };
};
