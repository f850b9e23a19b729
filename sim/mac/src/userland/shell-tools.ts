import { base64Tool } from './base64.ts';
import { idTool, whoamiTool } from './identity.ts';
import { mvTool } from './mv.ts';
import { psTool } from './ps.ts';
import { scriptTool } from './script-tool.ts';
import { sedTool } from './sed.ts';
import { shasumTool } from './shasum.ts';
import { sudoStub } from './sudo-stub.ts';

const uname = `#!/bin/sh
case \${1:-} in
  '' | -s) echo Darwin ;;
  -m) echo arm64 ;;
  -p) echo arm ;;
  -r) echo 25.0.0 ;;
  -sm | -ms) echo Darwin arm64 ;;
  *) echo Darwin Mac-mini.local 25.0.0 Darwin Kernel Version 25.0.0 RELEASE_ARM64_T8132 arm64 ;;
esac
`;

/** The real tools that those below are played with. */
export const toolsUnderneath = [
  'base64',
  'mv',
  'ps',
  'script',
  'sed',
  'shasum',
  ...[1, 224, 256, 384, 512].map((bits) => `sha${bits}sum`),
];

/**
 * Tools that are played in shell, because they are called often and need to know nothing. `real` is a folder of links to what lies
 * underneath: GNU's, or on a Mac BSD's own.
 */
export const shellTools = (real: string, gnu: boolean): Readonly<Record<string, string>> => ({
  base64: base64Tool(real, gnu),
  id: idTool,
  mv: mvTool(real, gnu),
  ps: psTool(real, gnu),
  script: scriptTool(real, gnu),
  sed: sedTool(real, gnu),
  shasum: shasumTool(real, gnu),
  sudo: sudoStub(real),
  // What it would wait for takes a second on a busy disk, and nobody could tell the difference.
  sync: '#!/bin/sh\nexit 0\n',
  uname,
  whoami: whoamiTool,
});
