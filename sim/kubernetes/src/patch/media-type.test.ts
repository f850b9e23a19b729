import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../status/api-error.ts';
import { patchTypeOf } from './media-type.ts';

const served: [string, string][] = [
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/merge-patch+json; charset=utf-8', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
];

for (const [contentType, type] of served) {
  test(`${contentType} is a patch of type ${type}`, () => assert.equal(patchTypeOf(contentType), type));
}

const refusal = (contentType: string, custom: boolean): ApiError => {
  try {
    patchTypeOf(contentType, custom);
  } catch (error) {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, 415);
    assert.equal(error.status.reason, 'UnsupportedMediaType');
    return error;
  }
  throw new assert.AssertionError({ message: `${contentType} was accepted` });
};

for (const contentType of ['', 'application/json', 'text/plain', 'Application/merge-patch+json', 'toString']) {
  test(`${JSON.stringify(contentType)} is refused for built-in kinds in the words of the real server`, () => {
    const { status } = refusal(contentType, false);
    assert.deepEqual([status.message, status.details], ['415: Unsupported Media Type', {}]);
  });
}

for (const contentType of ['application/json', 'application/strategic-merge-patch+json']) {
  test(`${contentType} is refused for custom resources in the words of the real server`, () => {
    assert.equal(
      refusal(contentType, true).message,
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  });
}

for (const contentType of ['application/apply-patch+yaml', 'application/apply-patch+cbor']) {
  test(`${contentType} is refused with what to do instead`, () => {
    assert.match(
      refusal(contentType, false).message,
      /does not serve server-side apply .*: use "kubectl apply" without --server-side, or a real cluster$/,
    );
  });
}
