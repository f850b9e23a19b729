import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import { read } from '../read.ts';

const noSuchPath = {
  code: 404,
  reason: 'NotFound',
  message: 'the server could not find the requested resource',
  details: {},
};

export const badInput = topic('bad input', [
  behaviour('malformed JSON is a bad request', async (context) => {
    refused(await context.post(await context.collection('configmaps'), '{bad'), {
      code: 400,
      reason: 'BadRequest',
      message:
        /^the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; json parse error: /,
    });
  }),

  behaviour('an empty body is a bad request', async (context) => {
    refused(await context.post(await context.collection('configmaps'), ''), {
      code: 400,
      reason: 'BadRequest',
      message:
        /^the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; json parse error: unexpected end of JSON input/,
    });
  }),

  behaviour('an unknown media type is unsupported', async (context) => {
    const answer = await context.post(await context.collection('configmaps'), 'hello', {
      headers: { 'content-type': 'text/plain' },
    });
    refused(answer, {
      code: 415,
      reason: 'UnsupportedMediaType',
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    });
  }),

  behaviour('a body may be YAML', async (context) => {
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n';
    const answer = await context.post(await context.collection('configmaps'), yaml, {
      headers: { 'content-type': 'application/yaml' },
    });
    assert.equal(answer.code, 201);
    assert.deepEqual(read(answer.json, 'data'), { x: '1' });
  }),

  behaviour('a body above 3 MiB is too large', async (context) => {
    const body = configMap('a', { data: { x: 'x'.repeat(3 * 1024 * 1024) } });
    refused(await context.post(await context.collection('configmaps'), body), {
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: limit is 3145728',
    });
  }),

  behaviour('an unknown kind or subresource is a 404', async (context) => {
    refused(await context.get('/api/v1/nonesuch'), noSuchPath);
    refused(await context.get(await context.collection('nonesuch')), noSuchPath);
    refused(await context.get(`${await context.collection('configmaps')}/a/nonesuch`), noSuchPath);
  }),

  behaviour('an unknown group is a 404 in plain text', async (context) => {
    const answer = await context.get(`/apis/${context.unique('nonesuch')}.example.com/v1/things`);
    assert.equal(answer.code, 404);
    assert.equal(answer.text, '404 page not found\n');
  }),

  behaviour('a method that a path does not support is not allowed', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    const notAllowed = {
      code: 405,
      reason: 'MethodNotAllowed',
      message: 'the server does not allow this method on the requested resource',
      details: {},
    };
    refused(await context.post(`${configMaps}/a`, configMap('a')), notAllowed);
    refused(await context.put(configMaps, configMap('a')), notAllowed);
    refused(await context.patch(configMaps, 'merge', {}), notAllowed);
  }),

  behaviour('dryRun accepts only All', async (context) => {
    refused(await context.post(`${await context.collection('configmaps')}?dryRun=Some`, configMap('a')), {
      code: 422,
      reason: 'Invalid',
      message: 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
      details: {
        group: 'meta.k8s.io',
        kind: 'CreateOptions',
        causes: [
          {
            reason: 'FieldValueNotSupported',
            message: 'Unsupported value: ["Some"]: supported values: "All"',
            field: 'dryRun',
          },
        ],
      },
    });
  }),

  behaviour('a limit that is not a number is a bad request', async (context) => {
    refused(await context.get(`${await context.collection('configmaps')}?limit=x`), {
      code: 400,
      reason: 'BadRequest',
      message: 'strconv.ParseInt: parsing "x": invalid syntax',
    });
  }),

  behaviour('an Accept header without a supported type is not acceptable', async (context) => {
    refused(await context.get(await context.collection('configmaps'), { headers: { accept: 'text/html' } }), {
      code: 406,
      reason: 'NotAcceptable',
    });
  }),

  behaviour('of several media types in Accept the first supported one wins', async (context) => {
    const answer = await context.get(await context.collection('configmaps'), {
      headers: { accept: 'text/html, application/json' },
    });
    assert.equal(answer.code, 200);
    assert.equal(answer.headers['content-type'], 'application/json');
  }),

  behaviour('a merge patch that is not an object is a bad request', async (context) => {
    const configMaps = await context.collection('configmaps');
    await context.create(configMaps, configMap('a'));
    refused(await context.patch(`${configMaps}/a`, 'merge', '{bad'), { code: 400, reason: 'BadRequest' });
  }),
]);
