// Loaded first by every npm script, in syntax that every Node can parse: a Node that cannot run TypeScript must report that in one
// sentence, not in a stack trace.
'use strict';
const oldest = 24;
const major = Number(process.versions.node.split('.')[0]);
if (major < oldest) {
  process.stderr.write(
    `Tartan needs Node ${oldest} or newer but runs on Node ${process.versions.node} (${process.execPath}): ` +
      'run "npm ci" without --omit=optional so that it brings its own Node 26 ' +
      `(there is one for linux-x64, linux-arm64 and darwin-arm64; this is ${process.platform}-${process.arch}), ` +
      `or install Node ${oldest} or newer yourself.\n`,
  );
  process.exit(1);
}
