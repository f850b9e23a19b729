import http from 'node:http';

/**
 * Works through the proxies that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name, as curl does. Node takes them only where it is told to, and
 * knows how since 24.14: on an older one they are not taken.
 */
export const withProxies = async <T>(env: NodeJS.ProcessEnv, work: () => Promise<T>): Promise<T> => {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];
  const isKnown = 'setGlobalProxyFromEnv' in http;
  const restore = isKnown && names.some((name) => env[name]) ? http.setGlobalProxyFromEnv(env) : () => {};
  try {
    return await work();
  } finally {
    // It holds for the whole process, which may have something else to do.
    restore();
  }
};
