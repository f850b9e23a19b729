import type { ApiAnswer } from './exchange.ts';
import type { Negotiated } from './accept.ts';
import { printYaml } from './yaml.ts';

/** An answer in the format that was negotiated. */
export const answerIn = (
  wanted: Pick<Negotiated, 'format' | 'pretty'>,
  code: number,
  object: unknown,
  headers: Record<string, string> = {},
): ApiAnswer => ({
  kind: 'answer',
  code,
  headers: { 'content-type': `application/${wanted.format}`, ...headers },
  body:
    wanted.format === 'yaml'
      ? printYaml(object)
      : wanted.pretty
        ? JSON.stringify(object, undefined, 2)
        : `${JSON.stringify(object)}\n`,
});

export const plainAnswer = (code: number, text: string): ApiAnswer => ({
  kind: 'answer',
  code,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: text,
});

export const pageNotFound = (): ApiAnswer => plainAnswer(404, '404 page not found\n');
