"""What the files of D4RL are: bytes and SHA-256, as TensorFlow Datasets has published them."""

from __future__ import annotations

FILES: dict[str, tuple[int, str]] = {
    "halfcheetah_medium.hdf5": (
        86_943_361,
        "fcaf602daa063c3031b9c36b777342a1ba669b41eaa6113258ecb9fb789768c3",
    ),
    "halfcheetah_medium_expert.hdf5": (
        174_437_297,
        "c9c90f6b9fca3caa662d6a1f89808171bdb4050bab1db05d24bd85d909a333f1",
    ),
    "halfcheetah_mixed.hdf5": (
        9_016_685,
        "61270f65dcadddae451607eeec68fdae50d0d6ae73fab185d9fc1979cc4f385d",
    ),
    "halfcheetah_random.hdf5": (
        88_909_895,
        "5ba6381942a5110069c78cdaabdeacf1847b970c5b2e72ea5be1756896363fa5",
    ),
    "hopper_medium.hdf5": (
        54_258_063,
        "3e6530f00ba134b375dbae56a2120d8e6d6d0afe33d402b0aca3ed3a09fca83b",
    ),
    "hopper_medium_expert.hdf5": (
        65_017_623,
        "3a024c1ecb4ff816963546d4423e2a57d8db85c9e0f4579aee9294e837d3fad0",
    ),
    "hopper_mixed.hdf5": (
        10_983_879,
        "901797e3f21a963b88ced7ab36ed8361ad548b470c38a0855bc265bb4dfb3de9",
    ),
    "hopper_random.hdf5": (
        54_351_370,
        "667e8a78d3460d19d3104826ad3e56abc6b3c07b34e5c179c53865c3dcc6844e",
    ),
    "walker2d_medium.hdf5": (
        84_756_933,
        "181a62086f3f287759201a9643e805b9e56438a8532a3915825dbaa6555bd173",
    ),
    "walker2d_medium_expert.hdf5": (
        166_972_341,
        "62b612b2fe593142391b52c1ee04814ea8ba36df5de007969ec50b8b1455f245",
    ),
    "walker2d_random.hdf5": (
        82_217_081,
        "b68931aeb97c9c550f69c2054f2f303bd2a3621385001af82bf0db86fd04b2ed",
    ),
    "walker_mixed.hdf5": (
        8_832_937,
        "d23588d4e07e58cbc276efea183edaa26eede5a44a1c2265adc8cdb6f68a56c7",
    ),
    "halfcheetah_expert-v2.hdf5": (
        237_464_597,
        "d9fe53bb994eb1e20a99b4fa3412cd76a1bb7966a7ff55e0fcbdd6081bd2965f",
    ),
    "halfcheetah_full_replay-v2.hdf5": (
        291_381_762,
        "27fdf7ea86e5a2cbd24d611ae9e703c86ec2e8e52823abc69dd9af6afb3a36c0",
    ),
    "halfcheetah_medium-v2.hdf5": (
        237_727_262,
        "41324e8487a9556d8cfa4538827f8937f4d63dae3030825ebc9f3a726ed08ca0",
    ),
    "halfcheetah_medium_expert-v2.hdf5": (
        474_567_252,
        "015db75dae5bbe8e94029b71fa0bafc2073365df0c94744e71031189f3f79c06",
    ),
    "halfcheetah_medium_replay-v2.hdf5": (
        59_448_533,
        "48d494a4770c11f48260736dec090b78bdca8375647ed4d24bfa5b6610c7f683",
    ),
    "halfcheetah_random-v2.hdf5": (
        237_338_037,
        "25407aef85b5d16c0f36b4149341edb4acc6a9e88c1db529b2de19e7464874ba",
    ),
    "hopper_expert-v2.hdf5": (
        152_427_435,
        "01aa219a5f8eea5e639eccdc636ec2bf40e317159a95cf4bf6e985f16909941b",
    ),
    "hopper_full_replay-v2.hdf5": (
        187_998_921,
        "56baf95963c51c1e964049a974566c50ba80f289390565523e60c0ba83e0982e",
    ),
    "hopper_medium-v2.hdf5": (
        152_756_557,
        "5bdf1bc4a713c82941de44633df669b36c89850b652a25985166796d25cf71a0",
    ),
    "hopper_medium_expert-v2.hdf5": (
        304_537_315,
        "9d51ad87f8c905be3880d84c6140bcdb7fbf39a19e046a237f238ba34fec9e26",
    ),
    "hopper_medium_replay-v2.hdf5": (
        75_854_457,
        "e121c5f7c9857a307baa9edc6a2c3b48e85fedb9ac316ecddd0f48ca7ef4e39b",
    ),
    "hopper_random-v2.hdf5": (
        152_525_345,
        "63103ef7059db4c0819bd054f4e83ff339030b50bcdb46bdbe50385f234b5054",
    ),
    "walker2d_expert-v2.hdf5": (
        230_567_195,
        "2985dc3d436a8baa10e8f43f946fe1d7c6337a4e4fbc65def70618093b18c59a",
    ),
    "walker2d_full_replay-v2.hdf5": (
        285_115_514,
        "f2720f9d27b2acef6ec9a7d9ad3b80b6c2078ad4467cee668a81e3b3c80bcf2a",
    ),
    "walker2d_medium-v2.hdf5": (
        232_254_996,
        "cf00f43add04c17fdfc2958dd581dea0851b2e5bedbe6fda073758a8f841aeda",
    ),
    "walker2d_medium_expert-v2.hdf5": (
        462_197_079,
        "6b8d7f868c45bbaedf460be797fb7271b46dee6ebe45fe7a64319f2005b59a04",
    ),
    "walker2d_medium_replay-v2.hdf5": (
        86_323_963,
        "e75de96a4f77acf7d4e0d6fdf0d7ccb177c26c44bb4388e4fd99f543ccfa18db",
    ),
    "walker2d_random-v2.hdf5": (
        216_109_364,
        "4e863bb6090cf4a461548bd470564b32f1ae5b32ef3085f816b2ede7f092e7fa",
    ),
}
"""Size and digest by the name of a file, from the checksums of tensorflow_datasets/d4rl."""
