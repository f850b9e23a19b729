import { createSecret, type Secret } from '@tartan/kube';
import type { Environment } from '@tartan/kube/flags';

/** Credentials of the Scaleway API. */
export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: Secret;
  readonly projectID: string;
  /** `undefined`: Scaleway's default. */
  readonly apiURL: string | undefined;
}

type ParsedCredentials = { readonly credentials: Credentials } | { readonly errors: readonly string[] };

interface Variable {
  readonly name: string;
  readonly help: string;
  /** Completes: `SCW_ACCESS_KEY is …`. */
  readonly form: string;
  readonly accepts: (text: string) => boolean;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const accessKey: Variable = {
  name: 'SCW_ACCESS_KEY',
  help: 'The access key of an API key of Scaleway.',
  form: 'SCW and 17 capital letters or digits',
  accepts: (text) => /^SCW[A-Z0-9]{17}$/.test(text),
};
const secretKey: Variable = {
  name: 'SCW_SECRET_KEY',
  help: 'The secret half of that API key. It is never shown.',
  form: 'a UUID',
  accepts: (text) => uuid.test(text),
};
const project: Variable = {
  name: 'SCW_DEFAULT_PROJECT_ID',
  help: 'The project whose Mac minis this is about.',
  form: 'a UUID',
  accepts: (text) => uuid.test(text),
};
const apiURL: Variable = {
  name: 'SCW_API_URL',
  help: "Another address than Scaleway's own, for tests. May be left out.",
  form: 'an http(s) address without a user or a password',
  accepts: (text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  },
};

/** For the help and the docs. */
export const credentialVariables: readonly Pick<Variable, 'name' | 'help'>[] = [accessKey, secretKey, project, apiURL];

/** A Secret made with `echo` ends with a line break, which is never part of any of these. */
const textOf = (env: Environment, { name }: Variable): string => (env[name] ?? '').trim();

/** Never shows a value, not even of the access key: the two keys get mixed up. */
const problemOf = (env: Environment, variable: Variable): string | undefined => {
  const { name, form, accepts } = variable;
  const text = textOf(env, variable);
  const source = 'Set it from the Secret that holds the API key of Scaleway';
  if (text === '') return variable === apiURL ? undefined : `${name} is not set. ${source}.`;
  if (accepts(text)) return undefined;
  const swapped = variable === accessKey && uuid.test(text) ? ' It looks like a secret key: are the two swapped?' : '';
  return `${name} is not ${form}.${swapped} ${variable === apiURL ? 'Correct it, or leave it out' : source}.`;
};

/** From variables, or files of the same names; never from arguments, which users who may list processes see. Total; reports all problems at once. */
export const parseCredentials = (env: Environment): ParsedCredentials => {
  const errors = [accessKey, secretKey, project, apiURL]
    .map((variable) => problemOf(env, variable))
    .filter((problem) => problem !== undefined);
  if (errors.length > 0) return { errors };
  const url = textOf(env, apiURL);
  return {
    credentials: {
      accessKey: textOf(env, accessKey),
      secretKey: createSecret(textOf(env, secretKey)),
      projectID: textOf(env, project),
      apiURL: url === '' ? undefined : url,
    },
  };
};
