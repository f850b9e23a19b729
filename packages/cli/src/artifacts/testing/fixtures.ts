import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runTartan } from '../../testing/cluster.ts';

export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

export const serveHttp = async (t: TestContext, listener: RequestListener): Promise<string> => {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server on a port has an address');
  return `http://127.0.0.1:${address.port}`;
};

/** A folder with a lock file, a loopback server with its downloads, and the real commands. */
export const setUpArtifacts = async (
  t: TestContext,
  pages: Readonly<Record<string, Buffer | RequestListener>>,
  lockOf: (url: string) => string,
) => {
  const folder = await mkdtemp(join(tmpdir(), 'tartan-artifacts-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const asked: string[] = [];
  const url = await serveHttp(t, (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim());
    const page = pages[request.url ?? ''];
    if (page === undefined) response.writeHead(404).end();
    else if (typeof page === 'function') page(request, response);
    else response.writeHead(200, { 'content-length': page.length }).end(page);
  });
  const lock = join(folder, 'artifacts.lock');
  const env = { npm_config_registry: `${url}/` };
  const files = join(folder, 'files');
  await writeFile(lock, lockOf(url));
  return {
    url,
    lock,
    files,
    asked,
    fetch: (...names: string[]) => runTartan(['artifacts', 'fetch', ...names, '--lock', lock, '--folder', files], env),
    fetchWith: (env: NodeJS.ProcessEnv) => runTartan(['artifacts', 'fetch', '--lock', lock, '--folder', files], env),
    verify: (...names: string[]) => runTartan(['artifacts', 'verify', ...names, '--lock', lock, '--folder', files], {}),
    lockCommand: (...names: string[]) => runTartan(['artifacts', 'lock', ...names, '--lock', lock], env),
    /** All files in the folder that is fetched into. */
    tree: async (): Promise<string[]> =>
      (await readdir(files, { recursive: true, withFileTypes: true }).catch(() => []))
        .filter((each) => each.isFile())
        .map((each) => join(each.parentPath, each.name).slice(files.length + 1))
        .sort(),
  };
};
