#include "train_fixture.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct BadInput {
  const char* name;
  int ranks;
  const char* arguments;  ///< arguments of traffic_train; DIR stands for the test's folder
  int exit_code;
  const char* message;
  const char* run = "run";  ///< name of the run's folder
};

class RefusesBadInput : public TrainTest, public ::testing::WithParamInterface<BadInput> {
 protected:
  void SetUp() override {
    TrainTest::SetUp();
    fs::copy(dir_ / "row.h5", dir_ / "cut.h5");
    fs::resize_file(dir_ / "cut.h5", fs::file_size(dir_ / "cut.h5") / 2);
    std::ofstream(dir_ / "text.h5") << "this is no HDF5 file\n";
    std::ofstream(dir_ / "empty.h5");
    write_train_data(dir_ / "train_only.h5", {}, {data::Split::kTrain});
  }
};

std::string with_folder(std::string text, const std::string& dir) {
  for (std::size_t i = 0; (i = text.find("DIR", i)) != std::string::npos; i += dir.size())
    text.replace(i, 3, dir);
  return text;
}

TEST_P(RefusesBadInput, WithAClearMessageAndItsExitCode) {
  const BadInput& input = GetParam();
  const Outcome outcome =
      run_program(command(input.ranks, input.run, with_folder(input.arguments, dir_.string())), 60);
  EXPECT_EQ(outcome.exit_code, input.exit_code) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr(input.message));
  // mpirun and MPI_Abort would print explanations between lines of dashes. They must not hide the
  // program's message.
  EXPECT_THAT(outcome.output, Not(HasSubstr("-----")));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RefusesBadInput,
    ::testing::Values(
        BadInput{"misspelt_key", 2, "--set train.learnin_rate=0.1", 2,
                 "did you mean 'train.learning_rate'"},
        BadInput{"wrong_type", 2, "--set train.epochs=many", 2, "train.epochs"},
        BadInput{"out_of_range", 1, "--set train.learning_rate=-1", 2, "train.learning_rate"},
        BadInput{"missing_data", 2, "--set 'data.files=[\"DIR/nothing-*.h5\"]'", 3, "nothing-*.h5"},
        BadInput{"truncated_data", 2, "--set 'data.files=[\"DIR/cut.h5\"]'", 3, "cut.h5"},
        BadInput{"foreign_data", 2, "--set 'data.files=[\"DIR/text.h5\"]'", 3, "text.h5"},
        BadInput{"empty_data", 1, "--set 'data.files=[\"DIR/empty.h5\"]'", 3, "empty.h5"},
        BadInput{"no_validation_split", 2, "--set 'data.files=[\"DIR/train_only.h5\"]'", 3,
                 "the validation split has no samples"},
        BadInput{"zero_samples", 2, "--set data.history_frames=64", 3, "sample"},
        BadInput{"more_ranks_than_samples", 4,
                 "--set data.sample_stride_frames=1000 --set data.max_vehicles=64 --set "
                 "data.drop_last=false "
                 "--set data.history_frames=50",
                 3, "ranks"},
        BadInput{"run_folder_cannot_be_made", 1, "", 8, "/proc/nowhere", "/proc/nowhere/run"},
        BadInput{"no_such_checkpoint", 1, "--resume DIR/missing.h5", 4, "missing.h5"},
        BadInput{"built_without_cuda", 1, "--set run.device=cuda", 2, "built without CUDA"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace traffic::test
